export {
  chunkName,
  readChunkCount,
  digestOf,
  indexAnnotations,
  indexMetadata,
  indexName,
  type IndexOutcome,
  loadSnapshot,
  remembered,
  REMOTE_CONTENT_LABEL,
  readSnapshotRequest,
  shortDigest,
  type Snapshot,
  type SnapshotState,
  readSnapshotState,
} from './snapshot.ts';
export { nextStep, retryDelayMs, type Step } from './next-step.ts';
export { contentLimits, recoverSnapshot, resolveContent } from './resolve-content.ts';
