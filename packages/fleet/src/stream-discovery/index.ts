export {
  configMapPair,
  digestOf,
  hasSources,
  type ImagePair,
  osImagesConfigMap,
  pairOf,
  type StreamSources,
} from './stream-sources.ts';
export { discoverStreams } from './discover-streams.ts';
export type { Discovery, SourceImage, SourceName, SourceReading, StreamNote } from './discovery.ts';
export { isMadeFrom, type NextStreamObject, nextStreamObject, type WantedStreamObject } from './next-stream-object.ts';
export { isCandidate, MOST_CANDIDATES } from './candidates.ts';
export { imageReferencesPath, MAX_REFERENCES_BYTES, readImageReferences } from './image-references.ts';
export { isSaidByUs, joinUpgradeable } from './join-upgradeable.ts';
