export {
  chunkName,
  chunksOf,
  digestOf,
  indexAnnotations,
  indexMetadata,
  indexName,
  type IndexOutcome,
  loadSnapshot,
  remembered,
  REMOTE_CONTENT_LABEL,
  requestOf,
  shortDigest,
  type Snapshot,
  type SnapshotState,
  snapshotStateOf,
} from './snapshot.ts';
export { nextStep, retryDelayMs, type Step } from './next-step.ts';
export { contentLimits, recoverSnapshot, resolveContent } from './resolve-content.ts';
