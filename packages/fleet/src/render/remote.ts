import type { MachineConfig } from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import { formatPath } from '@slipway/ignition';

// Where an Ignition config refers to content that lives elsewhere.

export interface RemoteReference {
  /** Such as `storage.files[0].contents.source`. */
  readonly path: string;
  readonly source: string;
}

/** Ignition's own fields nest half as deep; what is deeper is no reference, and the walk must end. */
const MAX_DEPTH = 16;

/** Whether its config must be resolved before it can be merged: contents to fetch, or other configs to take in. */
export function needsRemoteContent(machineConfig: MachineConfig): boolean {
  return remoteReferences(machineConfig.spec?.config).length > 0;
}

/**
 * Every reference to another config, and every source that is no data URL, wherever it stands. In all spec versions
 * `source` is the one field that holds such a URL, so this looks for the field and not at a list of places, which could
 * lack one.
 */
export function remoteReferences(config: unknown): RemoteReference[] {
  const found: RemoteReference[] = [];
  const at: (string | number)[] = [];

  const visit = (value: unknown, toConfig: boolean): void => {
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1) descend(index, value[index], toConfig);
    } else if (isRecord(value)) {
      for (const name of Object.keys(value)) visitField(name, value[name], toConfig);
    }
  };

  const visitField = (name: string, field: unknown, toConfig: boolean): void => {
    if (typeof field === 'object') descend(name, field, toConfig || isConfigReferences(at, name));
    else if (name === 'source' && typeof field === 'string' && mustBeFetched(field, toConfig)) {
      found.push({ path: formatPath([...at, name]), source: field });
    }
  };

  const descend = (segment: string | number, value: unknown, toConfig: boolean): void => {
    if (at.length === MAX_DEPTH) return;
    at.push(segment);
    visit(value, toConfig);
    at.pop();
  };

  visit(config, false);
  return found;
}

function isConfigReferences(at: readonly (string | number)[], name: string): boolean {
  return name === 'config' && at.length === 1 && at[0] === 'ignition';
}

/** Another config has to be taken in even when it stands in a data URL. */
function mustBeFetched(source: string, toConfig: boolean): boolean {
  return source !== '' && (toConfig || !source.startsWith('data:'));
}
