// Pulls and pins the images that the cluster assigns to this machine. Every step checks the state and starts what is
// possible. Pulls continue between steps, so that changes are handled immediately and updates of the machine never
// wait.
import type { MachineConfigNode } from '@slipway/api';
import { pinAssignmentAnnotation } from '@slipway/api/names';
import { machineConfigNodes, nodes } from '@slipway/api/resources';
import { type Clock, systemClock } from '@slipway/base/clock';
import { decodeAssignment, type PinAssignment } from '@slipway/fleet';
import { again, type ControllerDef, done, type Log, type Next, type StoreReader } from '@slipway/kube';
import { systemErrorCode } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';
import type { Problem } from '../problem.ts';
import { watchNodes } from '../watched-nodes.ts';
import { type AssignedSets, createSetReader } from './assigned-sets.ts';
import { isHealthy, listMissingImages, type NodeHealth, readNodeHealth, computeStartDelayMs } from './decisions.ts';
import { createLocalImages, CHECK_EVERY_MS, MEASURE_EVERY_MS } from './local-images.ts';
import type { PinMetrics } from './pin-metrics.ts';
import { createPinReconciler, openPinnedState } from './pinned-state.ts';
import { createWakeSignal, createImagePuller, type PullProgress } from './pull.ts';
import {
  addSample,
  buildEmptySnapshot,
  NO_SETS,
  type PinProblem,
  type PinSnapshot,
  toPinProblem,
  computeRate,
  type RateSample,
  buildSnapshot,
  withProblem,
} from './report.ts';
import { createPinReporter, type PinCluster } from './reporter.ts';
import { findEarliest, isLongOutage, isOutage, toExpectedProblem, watchRuntime } from './retry.ts';
import { openImageSizes, openSizeSource } from './sizes.ts';

export interface PinnerOptions {
  readonly host: Pick<Host, 'files' | 'containers'> & { readonly os: Pick<Host['os'], 'store'> };
  readonly cluster: PinCluster;
  readonly nodeName: string;
  readonly log: Log;
  readonly metrics: PinMetrics;
  /** Machines start within this time, each after a different delay. */
  readonly spreadMs?: number;
  readonly clock?: Pick<Clock, 'now' | 'setTimer'>;
  readonly random?: () => number;
}

/** The objects of the cluster that matter for pinning. */
export interface PinClusterView {
  readonly machineConfigNode: Pick<MachineConfigNode, 'metadata'> | undefined;
  readonly node: NodeHealth;
}

export interface Pinner {
  /** Steps never run concurrently. */
  step(view: PinClusterView, signal: AbortSignal): Promise<Next>;
  /** Calls `wake` when a step is needed. Returns a function that stops it. */
  listen(wake: () => void): () => void;
  /** Cancels pulls in progress. The next start resumes them. */
  stop(): Promise<void>;
}

const SPREAD_MS = 10_000;
/** A recreated MachineConfigNode has no assignment for a moment, which must not remove pins. */
const RELEASE_AFTER_MS = 10_000;
const DISK_RETRY_MS = 30_000;

const NO_PROGRESS: PullProgress = { waitsFor: '', wakeAt: null, problems: [], lastError: '' };

export function createPinner(options: PinnerOptions): Pinner {
  const { host, cluster, nodeName, log, metrics, spreadMs = SPREAD_MS } = options;
  const { clock = systemClock, random = Math.random } = options;
  const { now } = clock;
  const images = createLocalImages(host.containers, now);
  const runtime = watchRuntime(now, random);
  const sets = createSetReader({ cluster, now, random });
  const reporter = createPinReporter({ cluster, log, now, random });
  const wakeSignal = createWakeSignal();
  let opening: ReturnType<typeof open> | null = null;
  let assigned = '';
  let startsAt = 0;
  let pulled = NO_PROGRESS;
  let samples: readonly RateSample[] = [];
  let unassignedSince: number | null = null;
  let isSpaceReported = false;
  let isDiskReported = false;
  let snapshot = NO_SETS;

  async function open() {
    const sizes = await openImageSizes(host.files);
    const inForce = await openPinnedState(host);
    const source = openSizeSource(host);
    const pulling = createImagePuller({
      host,
      images,
      sizes,
      source,
      runtime,
      metrics,
      log,
      clock,
      random,
      onNews: wakeSignal.tell,
    });
    const keeper = createPinReconciler({ inForce, images, log, now, random });
    return { sizes, inForce, keeper, pulling };
  }
  type PinnerDeps = Awaited<ReturnType<typeof open>>;

  async function ensureOpen(): Promise<PinnerDeps> {
    opening ??= open();
    try {
      return await opening;
    } catch (error) {
      opening = null;
      throw error;
    }
  }

  async function followAssignment(assignment: PinAssignment, key: string, node: NodeHealth, signal: AbortSignal) {
    const deps = await ensureOpen();
    if (assignment.sets.length === 0 && !deps.inForce.isOurs()) return reportFreeSpace(key, signal);
    unassignedSince = null;
    await deps.inForce.claim();
    if (assigned !== JSON.stringify(assignment.sets)) {
      assigned = JSON.stringify(assignment.sets);
      startsAt = now() + computeStartDelayMs(nodeName, spreadMs);
      deps.pulling.startAnew();
    }
    const read = await sets.read(assignment.sets, signal);
    await withRuntime(async () => {
      if (runtime.outage() !== null || images.nextLookAt() <= now()) await images.look(signal);
      runtime.answered();
      if (images.isMeasureDue()) await images.measure(signal);
      await deps.keeper.keep({ ...read, isWell: isHealthy(node) }, signal);
      pulled = await deps.pulling.advance({ ...assignment, wanted: read.wanted, node, startsAt }, signal);
    }, signal);
    if (isKnown()) snapshot = takeSnapshot(deps, read);
    const reportAt = isKnown() ? await reporter.tell(key, snapshot, signal) : null;
    const wakes = [reportAt, read.retryAt, ...listLocalWakes(deps)].filter((at) => at !== null);
    return again(Math.max(1, (findEarliest(wakes) ?? now() + CHECK_EVERY_MS) - now()));
  }

  /** Right after a boot the runtime is not up yet, which is no reason to report missing images. */
  function isKnown(): boolean {
    const outage = runtime.outage();
    return images.seen() !== null || (outage !== null && isLongOutage(outage, now()));
  }

  /** The machine has never pinned anything: its runtime, if it has one, is not touched. */
  async function reportFreeSpace(key: string, signal: AbortSignal): Promise<Next> {
    const room = await host.os.store().catch((error: unknown) => {
      log.debug({ err: error }, 'could not determine the free space for images');
      return null;
    });
    const reportAt = room === null ? null : await reporter.tell(key, buildEmptySnapshot(room), signal);
    isSpaceReported ||= room !== null && reportAt === null;
    return again(Math.max(1, Math.min(reportAt ?? Infinity, now() + MEASURE_EVERY_MS) - now()));
  }

  function listLocalWakes({ keeper }: PinnerDeps): (number | null)[] {
    const outage = runtime.outage();
    return outage === null
      ? [images.nextLookAt(), pulled.wakeAt, keeper.retryAt()]
      : [Math.max(outage.notBefore, now())];
  }

  /** While the runtime does not respond, everything that needs it waits. */
  async function withRuntime(act: () => Promise<void>, signal: AbortSignal): Promise<void> {
    const outage = runtime.outage();
    if (outage !== null && now() < outage.notBefore) return;
    try {
      await act();
    } catch (error) {
      signal.throwIfAborted();
      if (!isOutage(error)) throw error;
      if (outage === null)
        log.warn({ problem: error.message }, 'the container runtime does not respond; waiting for it');
      runtime.note({ code: error.code, message: error.message });
    }
  }

  function takeSnapshot({ inForce, keeper, sizes }: PinnerDeps, read: AssignedSets): PinSnapshot {
    const store = images.store();
    const outage = runtime.outage();
    const present = images.present();
    const found = buildSnapshot({
      ...read,
      pinned: inForce.pinned(),
      present,
      sizes,
      problems: [...listProblems(read, keeper.problem()), ...pulled.problems],
      bytesPerSecond: computeRate(samples, now()),
      waitsFor: outage === null ? pulled.waitsFor : 'the container runtime to respond',
      lastError: pulled.lastError,
      store: store && { free: store.freeBytes, size: store.sizeBytes },
    });
    const { bytes } = found.progress;
    if (bytes !== null) samples = addSample(samples, { at: now(), bytes: bytes.done });
    const missing = listMissingImages(read.wanted, present).length;
    const all = listMissingImages(read.wanted, new Set()).length;
    const failed = pulled.problems.filter(({ key, code }) => key !== code).length;
    metrics.observe({ present: all - missing, missing, failed, bytes });
    return found;
  }

  function listProblems({ wanted, unknown, problems }: AssignedSets, notPinned: Problem | null): PinProblem[] {
    const outage = runtime.outage();
    const names = [...wanted.map(({ name }) => name), ...unknown];
    const ofAll = [outage !== null && isLongOutage(outage, now()) ? outage.problem : null, notPinned];
    return [
      ...problems.map(({ set, problem }) => ({ ...problem, key: `${problem.code} ${set}`, sets: [set] })),
      ...ofAll.flatMap((problem) => (problem === null ? [] : [toPinProblem(problem, names)])),
    ];
  }

  /** No sets are assigned to this node: removes the pins of this daemon. */
  async function releasePins(signal: AbortSignal): Promise<Next> {
    const { inForce, pulling } = await ensureOpen();
    if (!inForce.isOurs()) {
      if (isSpaceReported || isDiskReported) await reporter.tellNothing(signal);
      [isSpaceReported, isDiskReported] = [false, false];
      return done();
    }
    unassignedSince ??= now();
    const rest = unassignedSince + RELEASE_AFTER_MS - now();
    if (rest > 0) return again(rest);
    await pulling.stop();
    await withRuntime(async () => {
      if (inForce.pinned().length > 0 || !(await inForce.isSettled([]))) await inForce.put([], signal);
    }, signal);
    const outage = runtime.outage();
    if (outage !== null) return again(Math.max(1, outage.notBefore - now()));
    if (!isDiskReported) await reporter.tellNothing(signal);
    await inForce.forget();
    if (isDiskReported) await reporter.tellNothing(signal);
    [assigned, pulled, snapshot, isDiskReported] = ['', NO_PROGRESS, NO_SETS, false];
    metrics.observe({ present: 0, missing: 0, failed: 0, bytes: null });
    log.info('removed all pins: no PinnedImageSets are assigned to this node');
    return done();
  }

  /** A disk that refuses a write of the daemon is reported in place of what could not be done. */
  async function reportDisk(error: unknown, { machineConfigNode }: PinClusterView, signal: AbortSignal): Promise<Next> {
    if (systemErrorCode(error) === undefined || machineConfigNode === undefined) throw error;
    const problem = toExpectedProblem(error);
    if (problem === null) throw error;
    log.warn({ problem }, 'the disk refuses a read or write of pinning; retrying');
    isDiskReported = true;
    const { uid, annotations } = machineConfigNode.metadata;
    await reporter.tell(
      `${uid} ${annotations?.[pinAssignmentAnnotation] ?? ''}`,
      withProblem(snapshot, problem),
      signal,
    );
    return again(DISK_RETRY_MS);
  }

  async function step({ machineConfigNode, node }: PinClusterView, signal: AbortSignal): Promise<Next> {
    // Without a MachineConfigNode the assignment is unknown. The controller creates it, and until then nothing changes.
    if (machineConfigNode === undefined) return done();
    const { uid, annotations } = machineConfigNode.metadata;
    const text = annotations?.[pinAssignmentAnnotation];
    if (text === undefined) return releasePins(signal);
    const assignment = decodeAssignment(text);
    if (assignment === null) {
      log.warn(
        { annotation: pinAssignmentAnnotation },
        'cannot parse the PinnedImageSets assigned to this node; pins stay unchanged',
      );
      return done();
    }
    return followAssignment(assignment, `${uid} ${text}`, node, signal);
  }

  return {
    step: (view, signal) => step(view, signal).catch((error: unknown) => reportDisk(error, view, signal)),
    listen: (wake) => wakeSignal.listen(wake),
    async stop() {
      const deps = await opening?.catch(() => null);
      await deps?.pulling.close();
    },
  };
}

// The objects that pinning watches: the node's MachineConfigNode and the conditions of its Node.

/** For one node, or for all. */
export const pinningSources = (of: { readonly node: string } | 'all'): Pick<ControllerDef, 'reads' | 'owns'> => ({
  reads: watchNodes(of),
  owns: [{ resource: machineConfigNodes, subresource: 'status' }],
});

export const readPinClusterView = (read: StoreReader, nodeName: string): PinClusterView => ({
  machineConfigNode: read(machineConfigNodes, { as: 'metadata' }).get(nodeName),
  node: readNodeHealth(read(nodes).get(nodeName)),
});
