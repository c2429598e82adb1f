export {
  configMapPair,
  digestSources,
  hasSources,
  type ImagePair,
  listTagged,
  replaceTags,
  toImagePair,
  type StreamSources,
} from './stream-sources.ts';
export {
  discoverStreams,
  type Discovery,
  type SourceImage,
  type SourceName,
  type SourceReading,
  sourcePrecedence,
  type StreamNote,
} from './discover-streams.ts';
export { isMadeFrom, type NextStreamObject, nextStreamObject, type DesiredStreamObject } from './next-stream-object.ts';
export {
  IMAGE_REFERENCES_PATH,
  isCandidate,
  MAX_REFERENCES_BYTES,
  MAX_CANDIDATES,
  readImageReferences,
} from './image-references.ts';
export { readSources, resolveTags } from './read-sources.ts';
export { OS_IMAGES_CONFIG_MAP } from '@slipway/api/names';
