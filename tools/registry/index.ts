export { openDoor, type Door } from './door.ts';
export {
  pushImage,
  pushIndex,
  pushLayer,
  removeImage,
  type Compression,
  type ImageSpec,
  type LayerSpec,
  type PushedLayer,
} from './image.ts';
export { pushPayload, type ImageReferences, type Payload, type PayloadSpec, type StreamSpec } from './payload.ts';
export {
  resolveRegistry,
  startRegistry,
  type RegistryAccess,
  type RegistryOptions,
  type RunningRegistry,
} from './registry.ts';
export type { LoggedRequest } from './request-log.ts';
export type { LayerFile } from './tar.ts';
export { ToolsError } from '../controlplane/errors.ts';
