// What boot images a resource has had: BootImageHistory has the versions, and on it we keep the images themselves, so that one
// can be set again.
import { sha256 } from '@slipway/base/hash';
import type { BootImageHistory } from '@slipway/api';
import { apiWord } from './facts.ts';
import type { MachineResource } from './verdict.ts';

export type HistoryDetail = NonNullable<NonNullable<BootImageHistory['status']>['details']>[number];

const MAX_DETAILS = 200;
const MAX_NAME = 253;
const MAX_VERSION = 253;
const UNKNOWN_VERSION = 'unknown';

/** `<name>-<mapi|capi>-<machineset|machinedeployment>`. */
export function historyName({ api, kind, name }: MachineResource): string {
  const end = `-${apiWord(api)}-${kind.toLowerCase()}`;
  if (name.length + end.length <= MAX_NAME) return name + end;
  const hash = sha256(name).slice(0, 8);
  return `${name.slice(0, MAX_NAME - end.length - hash.length - 1)}-${hash}${end}`;
}

export const historySpec = ({ api, kind, name }: MachineResource): BootImageHistory['spec'] => ({
  machineResourceReference: { name, resource: kind, apiGroup: api },
});

export interface ImageChange {
  /** '' where it is not known. */
  readonly version: string;
  /** Of the ConfigMap. */
  readonly generation: number;
  readonly now: number;
}

/** Null: it is there already. A change that was written and whose entry was not yet is entered by asking again. */
export function nextDetails(details: readonly HistoryDetail[], change: ImageChange): readonly HistoryDetail[] | null {
  const bootImageVersion = (change.version === '' ? UNKNOWN_VERSION : change.version).slice(0, MAX_VERSION);
  const last = details.at(-1);
  if (last?.bootImageVersion === bootImageVersion && last.configMapGeneration === change.generation) return null;
  const updateTime = `${new Date(change.now).toISOString().slice(0, 19)}Z`;
  return [...details, { updateTime, bootImageVersion, configMapGeneration: change.generation }].slice(-MAX_DETAILS);
}
