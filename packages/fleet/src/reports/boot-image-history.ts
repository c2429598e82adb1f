// The boot images that a machine resource has had, as plain data. `-o json` prints exactly this.
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
  /** Null: it had this image before Slipway managed it. */
  readonly version: string | null;
  /** The counter of the ConfigMap; null likewise. */
  readonly configMapGeneration: number | null;
  /** As the platform names it. Null: no longer known, so it cannot be restored. */
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
  // The original image is recorded just before the change that replaced it, whose time has whole seconds: within the
  // same second the original is older.
  const entries = [...before, ...changes].toSorted((a, b) => toSecond(a) - toSecond(b)).toReversed();
  return { resource: resourceOfHistory(history), entries };
}

const toSecond = ({ at }: BootImageHistoryEntry): number => Math.floor(Date.parse(at) / 1000);
