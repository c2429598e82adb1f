// What becomes of the boot image of every resource that makes machines, as plain data. `-o json` gives exactly this.
import type { Failures } from '../boot-images/conditions.ts';
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
  /** What is opted in, as spec.managedBootImages of MachineConfiguration `cluster` says it. */
  readonly optedIn: readonly MachineManager[];
  readonly configMap: GoldenEntry;
  /** By API, kind, namespace and name. */
  readonly resources: readonly BootImageEntry[];
  /** What else people should know. */
  readonly notes: readonly string[];
}

/** ConfigMap coreos-bootimages, where the payload says which images there are. */
export interface GoldenEntry {
  readonly state: 'in use' | 'waiting' | 'unusable';
  readonly releaseVersion: string | null;
  /** Why it is not in use; '' where it is. */
  readonly why: string;
}

export interface BootImageEntry extends Omit<ResourceVerdict, 'code'> {
  /** One of ours, or of a newer version of the controllers. */
  readonly code: string | null;
  /** Only for the verdict `manual`: what somebody has to import, and how. */
  readonly toImport: ToImport | null;
}

/** What is decided and could not be carried out is known to the controllers alone: they note it. */
export function buildBootImageEntry({ verdict, toImport }: Decision, failures: Failures): BootImageEntry {
  const entry = { ...verdict, toImport: verdict.verdict === 'manual' ? toImport : null };
  const failure = verdict.verdict === 'update' ? failures.get(keyOfMachines(verdict.resource)) : undefined;
  if (failure === undefined) return entry;
  const { code, since } = failure;
  const why = `the controllers have failed to change it since ${since}: condition BootImageUpdateDegraded of MachineConfiguration cluster and their log say why`;
  return { ...entry, verdict: 'failed', code, why };
}

export const bootImagesReport = (
  gate: GateFinding | null,
  { optIn, golden }: ClusterFacts,
  resources: readonly BootImageEntry[],
): BootImagesReport => ({
  gate,
  optedIn: optIn?.managers ?? [],
  configMap: goldenEntry(golden),
  resources: resources.toSorted((a, b) => (toSortKey(a) < toSortKey(b) ? -1 : 1)),
  notes: listSelectionNotes(optIn),
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

/** The Machine API first: most have only that. */
const toSortKey = ({ resource: { api, kind, namespace, name } }: BootImageEntry): string =>
  [api === 'machine.openshift.io' ? 0 : 1, kind === 'MachineSet' ? 0 : 1, namespace, name].join('/');
