// Whether the cluster has come to the release that the boot images are of: whatever says which release it is at says this one,
// and the first machines run it. A pool that is updated says little by itself: it may be so on what was there before.

/** What a pool is to have, and how far its machines are. */
export interface PoolProgress {
  readonly name: string;
  readonly machineCount: number;
  readonly updatedMachineCount: number;
  /** The counts were made after the last change of the pool. */
  readonly isObserved: boolean;
  /** The rendered config that its machines go to; null: none yet. */
  readonly config: string | null;
  readonly os: PoolOsProgress;
}

export type PoolOsProgress =
  /** Nobody manages it, or somebody's own MachineConfig does: no release changes it. */
  | { readonly type: 'unmanaged' }
  /** Nobody has said yet which OS image stream the pool is on. */
  | { readonly type: 'undecided' }
  /** `rendered`: the image in the rendered config; null: there is no such config. */
  | { readonly type: 'managed'; readonly wanted: string; readonly rendered: string | null };

/** Something that says which release the cluster is at. */
export interface ReleaseSource {
  readonly what: string;
  readonly says: string;
}

export interface ReleaseFacts {
  /** Of ConfigMap coreos-bootimages; '': it does not say, and is compared with nothing. */
  readonly releaseVersion: string;
  /** Those that are there and say something. */
  readonly sources: readonly ReleaseSource[];
  /** The release images that the OSImageStream was made from and that the cluster goes to; null: not both are known. */
  readonly streams: { readonly madeFrom: string; readonly wanted: string } | null;
  /** Null: there is no such pool. */
  readonly master: PoolProgress | null;
  readonly worker: PoolProgress | null;
}

/** What is still to come, for a sentence that begins with `waits for`; null: nothing. */
export function waitsFor({ releaseVersion, sources, streams, master, worker }: ReleaseFacts): string | null {
  const other = releaseVersion === '' ? undefined : sources.find(({ says }) => says !== releaseVersion);
  if (other !== undefined) return `${other.what} to be ${releaseVersion}: it is ${cut(other.says)}`;
  if (streams !== null && streams.madeFrom !== streams.wanted)
    return `OSImageStream cluster to be made from ${cut(streams.wanted)}: it is from ${cut(streams.madeFrom)}`;
  return poolsWaitFor(master, worker);
}

/** One master that has finished shows that the release works here. Without masters of ours, all workers. */
function poolsWaitFor(master: PoolProgress | null, worker: PoolProgress | null): string | null {
  if (master !== null && (!master.isObserved || master.machineCount > 0)) return poolWaitsFor(master, 1);
  return worker === null ? null : poolWaitsFor(worker, worker.machineCount);
}

function poolWaitsFor(pool: PoolProgress, enough: number): string | null {
  const { name, isObserved, config, updatedMachineCount } = pool;
  const place = `MachineConfigPool ${name}`;
  if (!isObserved) return `the status of ${place}: it is of what the pool was before`;
  if (enough === 0) return null;
  if (config === null) return `${place} to be rendered`;
  const os = osWaitsFor(place, config, pool.os);
  if (os !== null) return os;
  if (updatedMachineCount >= enough) return null;
  const machines = enough === 1 ? 'the first machine' : 'all machines';
  return `${machines} of ${place} to be updated to ${config}`;
}

function osWaitsFor(place: string, config: string, os: PoolOsProgress): string | null {
  if (os.type === 'unmanaged') return null;
  if (os.type === 'undecided') return `${place} to be on an OS image stream`;
  if (os.rendered === os.wanted) return null;
  const found = os.rendered === null ? 'is not there' : `has ${os.rendered === '' ? 'none' : cut(os.rendered)}`;
  return `${place} to be rendered with the OS image ${cut(os.wanted)}: ${config} ${found}`;
}

const MOST = 450;
const cut = (text: string): string => (text.length <= MOST ? text : `${text.slice(0, MOST - 1)}…`);
