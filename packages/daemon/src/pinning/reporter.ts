// Reports pinning to the cluster when something changed. The machine continues if that fails.
import { machineConfigNodes, pinnedImageSets } from '@slipway/api/resources';
import { isEqual } from '@slipway/base/equal';
import type { PinProgress } from '@slipway/fleet';
import { type Client, createWriter, isKubeError, type Log, retryOnConflict } from '@slipway/kube';
import type { SetSource } from './assigned-sets.ts';
import { hasStoreMoved, type PinSnapshot, computePinStatus } from './report.ts';
import { addAttempt, type Attempts } from './retry.ts';

export interface PinReporter {
  /** Returns when the next report is due without an event. Null: never. `assignment`: what the node was assigned. */
  tell(assignment: string, snapshot: PinSnapshot, signal: AbortSignal): Promise<number | null>;
  /** Reports that no sets are assigned to this node. Rejects as the client does. */
  tellNothing(signal: AbortSignal): Promise<void>;
}

export interface PinReporterOptions {
  readonly cluster: Pick<PinCluster, 'report'>;
  readonly log: Log;
  readonly now: () => number;
  readonly random: () => number;
}

export function createPinReporter({ cluster, log, now, random }: PinReporterOptions): PinReporter {
  let lastReport: LastReport | null = null;
  let failure: Attempts | null = null;
  return {
    async tell(assignment, snapshot, signal) {
      const at = computeNextReportAt(lastReport, assignment, snapshot);
      if (at === null) return null;
      const due = Math.max(at, failure?.notBefore ?? 0);
      if (due > now()) return due;
      try {
        await cluster.report(snapshot, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!isKubeError(error)) throw error;
        log.warn({ err: error }, 'could not report the progress of images to the cluster; retrying');
        failure = addAttempt(failure, { code: error.code, message: error.message }, now(), random());
        return failure.notBefore;
      }
      lastReport = { assignment, snapshot, at: now() };
      failure = null;
      return null;
    },
    async tellNothing(signal) {
      await cluster.report(null, signal);
      lastReport = null;
    },
  };
}

// When to report. However many images there are, a node writes once for a new assignment, once at the end, at most ten
// times in between, every two minutes if it is slow, and for each new problem.

export interface LastReport {
  /** What the node was assigned, and by which object. */
  readonly assignment: string;
  readonly snapshot: PinSnapshot;
  readonly at: number;
}

const BETWEEN_MS = 10_000;
const SLICE_MS = 120_000;
const STORE_MS = 3_600_000;

/** The time of the next report, possibly in the past. Null: nothing to report. */
export function computeNextReportAt(
  lastReport: LastReport | null,
  assignment: string,
  snapshot: PinSnapshot,
): number | null {
  if (lastReport?.assignment !== assignment) return 0;
  const before = lastReport.snapshot;
  if (before.isWorking !== snapshot.isWorking) return 0;
  if ((before.problem === '') !== (snapshot.problem === '')) return 0;
  if (before.problemKey !== snapshot.problemKey) return lastReport.at + BETWEEN_MS;
  return snapshot.isWorking ? whileWorking(lastReport, snapshot) : whenIdle(lastReport, snapshot);
}

function whileWorking({ snapshot: before, at }: LastReport, snapshot: PinSnapshot): number | null {
  const { progress: was } = before;
  const { progress: is } = snapshot;
  if (computeTenth(was) !== computeTenth(is) || was.waitsFor !== is.waitsFor) return at + BETWEEN_MS;
  // Otherwise a pull that stalls would seem to end in two minutes for ever.
  const hasStopped = was.bytesPerSecond !== null && is.bytesPerSecond === null;
  return !hasStopped && computeFingerprint(before) === computeFingerprint(snapshot) ? null : at + SLICE_MS;
}

function whenIdle({ snapshot: before, at }: LastReport, snapshot: PinSnapshot): number | null {
  if (JSON.stringify(before.sets) !== JSON.stringify(snapshot.sets)) return 0;
  return hasStoreMoved(before.progress.store, snapshot.progress.store) ? at + STORE_MS : null;
}

/** Covers everything reported except the rate and the free space, which change all the time. */
function computeFingerprint({ sets, progress }: PinSnapshot): string {
  const { bytesPerSecond: _rate, secondsLeft: _left, store: _store, ...rest } = progress;
  return JSON.stringify([sets, rest]);
}

/** By bytes if they are known, otherwise by images. */
function computeTenth({ bytes, sets }: PinProgress): number {
  const { done, total } = bytes ?? sumImages(sets);
  return total === 0 ? 0 : Math.floor((10 * done) / total);
}

function sumImages(sets: PinProgress['sets']): { done: number; total: number } {
  let [done, total] = [0, 0];
  for (const { images } of sets) {
    done += images.done;
    total += images.total;
  }
  return { done, total };
}

// Access to the cluster for pinning: the sets by name, and the status of the node’s MachineConfigNode.

/** Rejects as the client does. */
export interface PinCluster extends SetSource {
  /** Writes once, or not at all if nothing changed. Null: no sets are assigned to the node. */
  report(snapshot: PinSnapshot | null, signal: AbortSignal): Promise<void>;
}

export function createPinCluster(client: Client, nodeName: string): PinCluster {
  const write = createWriter(client, { fieldManager: 'machine-config-daemon' });

  async function reportOnce(snapshot: PinSnapshot | null, signal: AbortSignal): Promise<void> {
    let record = await client.find(machineConfigNodes, { name: nodeName }, { signal });
    if (record === undefined) return;
    const { first, last } = computePinStatus(record, snapshot, new Date());
    const { conditions, pinnedImageSets = null } = record.status ?? {};
    let there: unknown = { conditions, pinnedImageSets };
    for (const status of [first, last]) {
      if (status === null || isEqual(status, there)) continue;
      // A merge patch replaces a list as a whole, so it must be based on the version that was read.
      record = await write.patchStatus(machineConfigNodes, record, status);
      there = status;
    }
  }

  return {
    findSet: (set, signal) => client.find(pinnedImageSets, { name: set }, { signal }),
    // The controller may write an annotation concurrently, or this daemon another part of the status.
    report: (snapshot, signal) => retryOnConflict(() => reportOnce(snapshot, signal)),
  };
}
