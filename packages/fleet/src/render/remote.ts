import type { MachineConfig } from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import { formatPath } from '@slipway/ignition';

// References of an Ignition config to remote content.

export interface RemoteReference {
  /** Such as `storage.files[0].contents.source`. */
  readonly path: string;
  readonly source: string;
}

/** Ignition fields nest half as deep. Anything deeper is not a reference, and the walk must end. */
const MAX_DEPTH = 16;

/** Whether its config must be resolved before the merge: contents to fetch, or other configs to include. */
export function needsRemoteContent(machineConfig: MachineConfig): boolean {
  return remoteReferences(machineConfig.spec?.config).length > 0;
}

/**
 * Every reference to another config, and every source that is not a data URL. In all spec versions `source` is the only
 * field with such a URL, so this searches for the field: a list of paths could miss one.
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

/** Another config must be included even if it is in a data URL. What is no URL cannot be fetched: validation refuses it. */
function mustBeFetched(source: string, toConfig: boolean): boolean {
  return SCHEME.test(source) && (toConfig || !source.startsWith('data:'));
}

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
