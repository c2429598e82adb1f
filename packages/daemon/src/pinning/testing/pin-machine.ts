// A simulated machine with a daemon that pins images, a cluster in memory, and a manual clock.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MachineConfigNode, PinnedImageSet } from '@slipway/api';
import { pinAssignmentAnnotation } from '@slipway/api/names';
import { encodeAssignment, type PinAssignment } from '@slipway/fleet';
import { silentLog } from '@slipway/kube';
import { createSimulatedHost } from '@slipway/simulator';
import type { FileSystem } from '../../host/file-system.ts';
import type { Host } from '../../host/host.ts';
import type { DesiredSet } from '../assigned-sets.ts';
import type { PinMetrics } from '../pin-metrics.ts';
import { createPinner, type Pinner } from '../pinner.ts';
import { computePinStatus } from '../report.ts';
import type { PinCluster } from '../reporter.ts';

type Status = NonNullable<MachineConfigNode['status']>;

export interface PinWorld {
  readonly sets: Map<string, PinnedImageSet>;
  assignment: PinAssignment | null;
  node: { isReady: boolean; hasDiskPressure: boolean };
  /** The reported status. */
  status: Status;
  /** The number of status writes. */
  writes: number;
  /** The number of reads of sets. */
  gets: number;
  /** Thrown by every request. */
  isAway: Error | null;
  now: number;
}

export function createPinWorld(): PinWorld {
  return {
    sets: new Map(),
    assignment: null,
    node: { isReady: true, hasDiskPressure: false },
    status: {},
    writes: 0,
    gets: 0,
    isAway: null,
    now: 1_000_000,
  };
}

/** Does what the controller does. */
export function assign(world: PinWorld, sets: readonly DesiredSet[], more: Partial<PinAssignment> = {}): void {
  world.sets.clear();
  for (const set of sets) world.sets.set(set.name, toPinnedImageSet(set));
  const assigned = sets.map(({ name, uid, generation }) => ({ name, uid, generation }));
  world.assignment = {
    mayPull: true,
    parallel: 2,
    ...more,
    sets: assigned.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

const toPinnedImageSet = ({ name, uid, generation, images }: DesiredSet): PinnedImageSet => ({
  apiVersion: 'machineconfiguration.openshift.io/v1',
  kind: 'PinnedImageSet',
  metadata: { name, uid, generation },
  spec: { pinnedImages: images.map((image) => ({ name: image })) },
});

export interface PinMachine {
  readonly host: Host;
  readonly pinner: Pinner;
  /** Started pulls. */
  pulls(): readonly string[];
  /** How often pins were configured in the runtime. */
  pins(): number;
  /** Advances the clock and fires due timers. */
  tick(ms: number): Promise<void>;
  /** Runs one step and what it started. Returns when the next one is due without an event. Null: never. */
  step(): Promise<number | null>;
  /** Runs steps and advances the clock until there is nothing to do for a minute. */
  settle(): Promise<void>;
  /** Runs steps and advances the clock until this is true. */
  until(holds: () => boolean | Promise<boolean>): Promise<void>;
}

const MAX_STEPS = 500;
const IDLE_MS = 60_000;

type Containers = Host['containers'];

/** Starts the daemon. `change` replaces parts of the container runtime. */
export function startPinMachine(
  files: FileSystem,
  world: PinWorld,
  change: (containers: Containers) => Containers = (containers) => containers,
): PinMachine {
  const host = createSimulatedHost({ root: '/', files });
  const pulls: string[] = [];
  const state = { underWay: 0, pins: 0, isWoken: false };
  const timers = new Set<{ readonly at: number; readonly fire: () => void }>();
  const containers = change({
    ...host.containers,
    async pull(image, credential, signal) {
      pulls.push(image);
      state.underWay += 1;
      try {
        await host.containers.pull(image, credential, signal);
      } finally {
        state.underWay -= 1;
      }
    },
    async pin(images, signal) {
      state.pins += 1;
      await host.containers.pin(images, signal);
    },
  });
  const pinner = createPinner({
    host: { ...host, files, containers },
    cluster: createFakeCluster(world),
    nodeName: 'worker-1',
    log: silentLog(),
    metrics: noMetrics,
    spreadMs: 0,
    clock: {
      now: () => world.now,
      setTimer(ms, fire) {
        const timer = { at: world.now + ms, fire };
        timers.add(timer);
        return () => timers.delete(timer);
      },
    },
    random: () => 0.5,
  });
  pinner.listen(() => {
    state.isWoken = true;
  });

  /** Waits until a step has something to do, or nothing is in progress. */
  async function waitForNews(): Promise<void> {
    do await nextTurn();
    while (!state.isWoken && state.underWay > 0);
    await nextTurn();
  }

  async function tick(ms: number): Promise<void> {
    world.now += ms;
    for (const timer of [...timers].filter(({ at }) => at <= world.now)) {
      timers.delete(timer);
      timer.fire();
    }
    await nextTurn();
  }

  async function step(): Promise<number | null> {
    await tick(0);
    state.isWoken = false;
    const next = await pinner.step(buildPinClusterView(world), new AbortController().signal);
    await waitForNews();
    if (state.isWoken) return 0;
    return next.type === 'done' ? null : next.afterMs;
  }

  async function until(holds: (dueMs: number | null) => boolean | Promise<boolean>): Promise<void> {
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      const due = await step();
      if (await holds(due)) return;
      world.now += due ?? IDLE_MS;
    }
    throw new Error(`not after ${MAX_STEPS} steps; the reported status: ${JSON.stringify(world.status)}`);
  }

  return {
    host,
    pinner,
    pulls: () => pulls,
    pins: () => state.pins,
    tick,
    step,
    settle: () => until((due) => due === null || due >= IDLE_MS - 1),
    until,
  };
}

function buildPinClusterView({ assignment, node }: PinWorld): Parameters<Pinner['step']>[0] {
  const annotations = assignment === null ? {} : { [pinAssignmentAnnotation]: encodeAssignment(assignment) };
  return { machineConfigNode: { metadata: { name: 'worker-1', uid: 'uid', annotations } }, node };
}

/** Rejects decreasing generations, like the API server. */
function createFakeCluster(world: PinWorld): PinCluster {
  const respond = <T>(act: () => T): Promise<T> => {
    if (world.isAway !== null) return Promise.reject(world.isAway);
    return Promise.resolve(act());
  };
  return {
    findSet: (name) =>
      respond(() => {
        world.gets += 1;
        return world.sets.get(name);
      }),
    report: (snapshot) =>
      respond(() => {
        const { first, last } = computePinStatus({ status: world.status }, snapshot, new Date());
        for (const status of [first, last]) {
          if (status === null) continue;
          const { conditions, pinnedImageSets } = status;
          const next: Status = {
            conditions: conditions.map(({ reason = '', message = '', ...rest }) =>
              Object.assign(rest, { reason, message }),
            ),
            ...(pinnedImageSets !== null && { pinnedImageSets: [...pinnedImageSets] }),
          };
          if (JSON.stringify(next) === JSON.stringify(world.status)) continue;
          world.status = next;
          world.writes += 1;
        }
      }),
  };
}

const noMetrics: PinMetrics = { observe: () => {}, pulled: () => {} };

export const findPinCondition = ({ status }: PinWorld, type: 'Progressing' | 'Degraded') =>
  status.conditions?.find((condition) => condition.type === `PinnedImageSets${type}`);
