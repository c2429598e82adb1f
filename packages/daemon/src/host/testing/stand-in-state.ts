// The state of the stand-in for rpm-ostree, bootc and podman, in one file. A boot changes it.
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface StandInDeployment {
  /** In the form of ostree: `ostree-unverified-registry:…`. */
  readonly reference: string;
  readonly version: string;
  readonly kernelArguments: readonly string[];
  /** The arguments of `bootc loader-entries` for each owner. */
  readonly sources: Readonly<Record<string, string>>;
  readonly packages: readonly string[];
  readonly removals: readonly string[];
}

export interface StandInFailure {
  /** The start of the call: `rpm-ostree rebase`. */
  readonly call: string;
  readonly stderr: string;
  readonly times: number;
}

/** An image of the registry. */
export interface StandInImage {
  /** The label of OS images. */
  readonly bootable: boolean;
  /** Of the OS: of this image, or the one that the packages were built for. Default: 9.6. */
  readonly version?: string;
  readonly packages?: readonly string[];
}

export interface StandInState {
  /** The directory that is the machine's root. */
  readonly root: string;
  readonly booted: StandInDeployment;
  readonly staged: StandInDeployment | null;
  /** Not based on ostree, as bootc reports. */
  readonly isComposefs: boolean;
  readonly registry: Readonly<Record<string, StandInImage>>;
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

export const DEFAULT_VERSION = '9.6';

export const majorOf = (version = DEFAULT_VERSION): string => version.split('.')[0] ?? '';

export function computeChecksum(deployment: StandInDeployment): string {
  return createHash('sha256').update(JSON.stringify(deployment)).digest('hex');
}

/** Includes the argument that ostree adds to every deployment. */
export function buildArguments(deployment: StandInDeployment): string[] {
  const own = Object.values(deployment.sources).flatMap((options) => options.split(' '));
  return [...deployment.kernelArguments, ...own, `ostree=/ostree/boot.1/rhcos/${computeChecksum(deployment)}/0`];
}

/** A clean shutdown writes the staged deployment to the boot loader; a power cut loses it. */
export function bootStandIn(state: StandInState, after: 'shut down in order' | 'power cut'): StandInState {
  const booted = after === 'power cut' ? state.booted : (state.staged ?? state.booted);
  return { ...state, booted, staged: null };
}
