// What the stand-in for rpm-ostree, bootc and podman knows: one file. A boot is a change of it.
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface StandInDeployment {
  /** As ostree keeps it: `ostree-unverified-registry:…`. */
  readonly reference: string;
  readonly version: string;
  readonly kernelArguments: readonly string[];
  /** What `bootc loader-entries` was given for each owner. */
  readonly sources: Readonly<Record<string, string>>;
  readonly packages: readonly string[];
  readonly removals: readonly string[];
}

export interface StandInFailure {
  /** How the call begins: `rpm-ostree rebase`. */
  readonly call: string;
  readonly stderr: string;
  readonly times: number;
}

export interface StandInState {
  /** Where the machine's own paths begin. */
  readonly root: string;
  readonly booted: StandInDeployment;
  readonly staged: StandInDeployment | null;
  /** Not kept by ostree: bootc says so. */
  readonly isComposefs: boolean;
  /** By name, as a registry has them; `bootable` is the label that OS images carry. */
  readonly registry: Readonly<Record<string, { readonly bootable: boolean; readonly packages?: readonly string[] }>>;
  /** Images in podman's store. */
  readonly pulled: readonly string[];
  readonly containers: Readonly<Record<string, string>>;
  readonly failures: readonly StandInFailure[];
  /** Every call, oldest first. */
  readonly calls: readonly string[];
}

const NAME = 'state.json';

export function readStandIn(directory: string): StandInState {
  return JSON.parse(readFileSync(join(directory, NAME), 'utf8')) as StandInState;
}

export function writeStandIn(directory: string, state: StandInState): void {
  const path = join(directory, NAME);
  writeFileSync(`${path}.new`, JSON.stringify(state, undefined, 2));
  renameSync(`${path}.new`, path);
}

export function computeChecksum(deployment: StandInDeployment): string {
  return createHash('sha256').update(JSON.stringify(deployment)).digest('hex');
}

/** With the one that ostree gives every deployment. */
export function buildArguments(deployment: StandInDeployment): string[] {
  const own = Object.values(deployment.sources).flatMap((options) => options.split(' '));
  return [...deployment.kernelArguments, ...own, `ostree=/ostree/boot.1/rhcos/${computeChecksum(deployment)}/0`];
}

/** An orderly shutdown writes what is staged to the boot loader; a power cut loses it. */
export function bootStandIn(state: StandInState, after: 'shut down in order' | 'power cut'): StandInState {
  const booted = after === 'power cut' ? state.booted : (state.staged ?? state.booted);
  return { ...state, booted, staged: null };
}
