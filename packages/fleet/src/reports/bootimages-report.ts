// The decision about the boot image of every machine resource, as plain data. `-o json` prints exactly this.
import { type Failures, listAdoptionNotes } from '../boot-images/conditions.ts';
import type { GoldenReading } from '../boot-images/boot-image-config.ts';
import type { Decision, ToImport } from '../boot-images/decide.ts';
import { type ClusterFacts, keyOfMachines, type MachineManager } from '../boot-images/facts.ts';
import { listSelectionNotes } from '../boot-images/preconditions.ts';
import type { ResourceVerdict } from '../boot-images/verdict.ts';
import type { GateFinding } from '../feature-gates.ts';
import { formatProblem } from '../problems.ts';

export interface BootImagesReport {
  /** Whether boot images are managed. Null: the cluster has no FeatureGate, so only its controllers know. */
  readonly gate: GateFinding | null;
  /** What spec.managedBootImages of MachineConfiguration `cluster` opts in. */
  readonly optedIn: readonly MachineManager[];
  readonly configMap: GoldenEntry;
  /** By API, kind, namespace and name. */
  readonly resources: readonly BootImageEntry[];
  /** Further notes for users. */
  readonly notes: readonly string[];
}

/** ConfigMap coreos-bootimages, which lists the boot images of the payload. */
export interface GoldenEntry {
  readonly state: 'in use' | 'waiting' | 'unusable';
  readonly releaseVersion: string | null;
  /** Why it is not in use; '' if it is. */
  readonly why: string;
}

export interface BootImageEntry extends Omit<ResourceVerdict, 'code'> {
  /** A known code, or one of a newer version of the controllers. */
  readonly code: string | null;
  /** The image is user-managed, or of an earlier release. `slipway bootimages adopt` lets Slipway replace it. */
  readonly isUnknown: boolean;
  /** Only for the verdict `manual`: what a user must import, and how. */
  readonly toImport: ToImport | null;
}

/** Only the controllers know that an update failed: they record it. */
export function buildBootImageEntry({ verdict, isUnknown, toImport }: Decision, failures: Failures): BootImageEntry {
  const entry = { ...verdict, isUnknown, toImport: verdict.verdict === 'manual' ? toImport : null };
  const failure = verdict.verdict === 'update' ? failures.get(keyOfMachines(verdict.resource)) : undefined;
  if (failure === undefined) return entry;
  const { code, since } = failure;
  const why = `the controllers have failed to update it since ${since}. Check the condition BootImageUpdateDegraded of MachineConfiguration cluster, and their log`;
  return { ...entry, verdict: 'failed', code, why };
}

/** A MachineSet with one machine that tries a new image for the MachineSet `of`. */
interface Canary {
  readonly name: string;
  readonly of: string;
}

/** While there is a canary, Machine API MachineSets that need a new image wait for it: it shows whom they wait for. */
export const explainCanaries = (
  entries: readonly BootImageEntry[],
  canaries: readonly Canary[],
): readonly BootImageEntry[] =>
  entries.map((entry) => {
    const { resource, verdict, image, target, why } = entry;
    if (resource.api !== 'machine.openshift.io' || verdict !== 'update' || image === target) return entry;
    const canary = canaries.find(({ of }) => of === resource.name) ?? canaries[0];
    if (canary === undefined) return entry;
    const waits =
      canary.of === resource.name
        ? `waits until the machine of its canary ${canary.name} is Ready`
        : `waits for the canary of MachineSet ${canary.of} (${canary.name})`;
    return { ...entry, why: why === '' ? waits : `${waits}. ${why}` };
  });

export const bootImagesReport = (
  gate: GateFinding | null,
  { optIn, golden }: ClusterFacts,
  resources: readonly BootImageEntry[],
): BootImagesReport => ({
  gate,
  optedIn: optIn?.managers ?? [],
  configMap: goldenEntry(golden),
  resources: resources.toSorted((a, b) => (toSortKey(a) < toSortKey(b) ? -1 : 1)),
  notes: [
    ...listAdoptionNotes(resources.filter(({ isUnknown }) => isUnknown).map(({ resource }) => resource)),
    ...listSelectionNotes(optIn),
  ],
});

function goldenEntry(reading: GoldenReading): GoldenEntry {
  if (reading.type === 'problem') {
    return { state: 'unusable', releaseVersion: null, why: formatProblem(reading) };
  }
  const { config, stamp } = reading.golden;
  const releaseVersion = config.releaseVersion === '' ? null : config.releaseVersion;
  return stamp.type === 'stamped'
    ? { state: 'in use', releaseVersion, why: '' }
    : { state: 'waiting', releaseVersion, why: stamp.why };
}

/** The Machine API first: most clusters have only that. */
const toSortKey = ({ resource: { api, kind, namespace, name } }: BootImageEntry): string =>
  [api === 'machine.openshift.io' ? 0 : 1, kind === 'MachineSet' ? 0 : 1, namespace, name].join('/');
