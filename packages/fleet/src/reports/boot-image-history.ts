// The boot images that something which makes machines has had, as plain data. `-o json` gives exactly this.
import { type BootImageHistory, bootImagesOfHistoryAnnotation } from '@slipway/api';
import { decodeKeptImages, findKeptImage, type KeptImage } from '../boot-images/history.ts';
import type { MachineResource } from '../boot-images/verdict.ts';

export interface BootImageHistoryReport {
  readonly resource: MachineResource;
  /** The newest first. */
  readonly entries: readonly BootImageHistoryEntry[];
}

export interface BootImageHistoryEntry {
  readonly at: string;
  /** Null: it had this image before Slipway came. */
  readonly version: string | null;
  /** The counter of the ConfigMap; null likewise. */
  readonly configMapGeneration: number | null;
  /** As the platform names it. Null: no longer known, so that it cannot be restored. */
  readonly image: string | null;
}

export const resourceOfHistory = ({ metadata, spec }: BootImageHistory): MachineResource => {
  const { name, resource, apiGroup } = spec.machineResourceReference;
  return {
    api: apiGroup,
    kind: resource === 'MachineDeployment' ? 'MachineDeployment' : 'MachineSet',
    namespace: metadata.namespace ?? '',
    name,
  };
};

export const readKeptImages = ({ metadata }: BootImageHistory): readonly KeptImage[] =>
  decodeKeptImages(metadata.annotations?.[bootImagesOfHistoryAnnotation]);

export function bootImageHistoryReport(history: BootImageHistory): BootImageHistoryReport {
  const kept = readKeptImages(history);
  const changes = (history.status?.details ?? []).map(
    ({ updateTime, bootImageVersion, configMapGeneration }): BootImageHistoryEntry => ({
      at: updateTime,
      version: bootImageVersion,
      configMapGeneration,
      image: findKeptImage(kept, bootImageVersion)?.image ?? null,
    }),
  );
  const before = kept
    .filter(({ version }) => version === '')
    .map(({ at, image }): BootImageHistoryEntry => ({ at, version: null, configMapGeneration: null, image }));
  // What was there before is noted a moment before the change that ended it, whose time has no parts of seconds: in one
  // second it comes first.
  const entries = [...before, ...changes].toSorted((a, b) => toSecond(a) - toSecond(b)).toReversed();
  return { resource: resourceOfHistory(history), entries };
}

const toSecond = ({ at }: BootImageHistoryEntry): number => Math.floor(Date.parse(at) / 1000);
