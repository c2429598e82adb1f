export { configMapPair, digestOf, hasSources, type ImagePair, pairOf, type StreamSources } from './stream-sources.ts';
export {
  discoverStreams,
  type Discovery,
  type SourceImage,
  type SourceName,
  type SourceReading,
  type StreamNote,
} from './discover-streams.ts';
export {
  isMadeFrom,
  isSaidByUs,
  joinUpgradeable,
  type NextStreamObject,
  nextStreamObject,
  type WantedStreamObject,
} from './next-stream-object.ts';
export {
  imageReferencesPath,
  isCandidate,
  MAX_REFERENCES_BYTES,
  MOST_CANDIDATES,
  readImageReferences,
} from './image-references.ts';
export { readSources } from './read-sources.ts';
export { osImagesConfigMap } from '@slipway/api/names';
