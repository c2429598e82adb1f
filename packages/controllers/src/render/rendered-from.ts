// Which MachineConfigs a rendered config was made from, and at which state each was: for a pool's history.
import { sha256 } from '@slipway/base/hash';
import type { MachineConfig } from '@slipway/api';
import { canonicalJson, type RenderedFrom } from '@slipway/fleet';

/** All annotations of an object have 256 KiB together. */
const MOST = 64 * 1024;
const DIGEST_LENGTH = 16;

/** As it stands in the annotation; '' where there are too many to keep. The digest tells whether one changed, and nothing of what it says. */
export function renderedFrom(machineConfigs: readonly MachineConfig[]): string {
  const from = machineConfigs.map(({ metadata, spec }): RenderedFrom => ({
    name: metadata.name,
    generation: metadata.generation ?? 0,
    digest: sha256(canonicalJson(spec ?? {})).slice(0, DIGEST_LENGTH),
  }));
  const text = JSON.stringify(from);
  return text.length > MOST ? '' : text;
}
