// A cluster in memory, in virtual time: pools and machines, what users and kubelets do to them, and our controllers in
// a process that can be killed. The seed determines everything that happens.
import {
  machineConfigPools,
  machineConfigs,
  machineConfigurations,
  type MachineConfigPool,
  type Node,
  nodeAnnotations,
  nodes,
  poolLabel,
  stopRolloutsAnnotation,
} from '@slipway/api';
import {
  formatApiVersion,
  type ControllerDef,
  isKubeError,
  type Recorder,
  resourceId,
  type Stored,
  type WriteAttempt,
} from '@slipway/kube';
import { createRandom, type Random } from '@slipway/testing/random';
import { type ControllerProcess, startProcess } from './controller-process.ts';
import { readTargetConfig } from './fleet-rules.ts';
import { createMemoryApi, type MemoryApi } from './memory-api.ts';
import { type Change, type ChangeOf } from './model-daemon.ts';
import { createReferee, type Referee } from './referee.ts';
import { type MachineEnvironment, runMachine, type SimulatedMachine } from './simulated-machine.ts';
import { createVirtualTime, type VirtualTime } from './virtual-time.ts';
import type { Fate } from './wire.ts';

export interface ClusterOptions {
  readonly seed: number;
  /** Created for each start of the process: their memory is lost when it dies. */
  controllers(this: void): readonly ControllerDef[];
  fateOf?(this: void, write: WriteAttempt): Fate;
  /** How long views take to show a change. */
  lagMs?(this: void, random: Random): number;
  readonly recordEvent?: Recorder['record'];
  /** The share of booting machines that do not come up on their own. */
  readonly stuckShare?: number;
  /** What a machine needs to change from one config to another. */
  readonly changeOf?: ChangeOf;
}

export interface SimulatedCluster {
  readonly api: MemoryApi;
  readonly time: VirtualTime;
  readonly random: Random;
  readonly referee: Referee;
  /** How often the process was started. */
  readonly starts: number;
  /** Ends all external faults. */
  calmDown(): void;
  addPool(name: string, spec?: Partial<MachineConfigPool['spec']>, annotations?: Record<string, string>): void;
  /** A new config for a pool, which becomes its newest. `breaks`: how many of the machines cannot apply it. */
  render(this: void, pool: string, breaks?: { readonly share: number; readonly end: 'fails' | 'is refused' }): string;
  isBad(config: string): boolean;
  patchPool(name: string, body: object): void;
  stopRollouts(why: string | null): void;
  /** `isSettled`: it has existed for long, and has the pool's config. */
  addNode(pool: string, options?: NodeOptions): void;
  removeNode(name: string): void;
  /** Another role, and with it another pool. */
  relabel(name: string, pool: string): void;
  setReady(name: string, isReady: boolean): void;
  /** By a user. */
  cordon(name: string, isCordoned: boolean): void;
  /** By a user who changes a file on the machine, or changes it back. */
  drift(name: string, hasDrifted: boolean): void;
  resetMachines(): void;
  /** The process dies, and another one starts. */
  restart(afterMs: number): void;
}

interface NodeOptions {
  readonly zone?: string | undefined;
  readonly name?: string;
  readonly isSettled?: boolean;
}

const START = Date.parse('2026-01-05T08:00:00Z');
const MINUTE = 60_000;
const role = (pool: string): string => `node-role.kubernetes.io/${pool}`;
/** A machine of a custom pool is also a worker. */
const buildRoleLabels = (pool: string): Record<string, string> =>
  ['worker', 'master', 'arbiter'].includes(pool) ? { [role(pool)]: '' } : { [role('worker')]: '', [role(pool)]: '' };

export function createCluster(options: ClusterOptions): SimulatedCluster {
  const random = createRandom(options.seed);
  const time = createVirtualTime(START);
  const api = createMemoryApi(time.now);
  const referee = createReferee(api, time.now);
  const machines = new Map<string, SimulatedMachine>();
  const bad = new Map<string, { readonly share: number; readonly end: 'fails' | 'is refused' }>();
  const ofProcess = random.fork();
  const ofMachines = random.fork();
  const salt = random.int(0, 2 ** 31);
  let isCalm = false;
  let starts = 0;
  let made = 0;
  let process: ControllerProcess | null = null;

  function start(): void {
    starts += 1;
    process = startProcess({
      api,
      time,
      random: ofProcess,
      controllers: options.controllers(),
      lagMs: () => (isCalm ? ofProcess.int(1, 50) : (options.lagMs?.(ofProcess) ?? ofProcess.int(1, 200))),
      latencyMs: () => ofProcess.int(1, 30),
      ...(options.recordEvent !== undefined && { recordEvent: options.recordEvent }),
      fateOf: (write) => (isCalm ? 'lands' : (options.fateOf?.(write) ?? 'lands')),
      by: (run, write, carryOut) => referee.by(run, write, carryOut),
      onDeath: () => restart(ofProcess.int(100, 60_000)),
      onBug: (run, error) => referee.report(`${run.controller} ${run.key} broke: ${String(error)}`),
    });
  }

  function restart(afterMs: number): void {
    process?.kill();
    process = null;
    time.after(afterMs, () => {
      if (process === null) start();
    });
  }

  const drawChance = (...words: string[]): number => createRandom(hash(salt, words.join(' '))).next();

  function drawChange(from: string, to: string): Change {
    const draw = drawChance(from, to);
    return { isEmpty: draw < 0.05, needsDrain: draw < 0.7, reboots: draw > 0.4, end: 'works' };
  }

  function decideChange(node: string, from: string, to: string): Change {
    const change = (options.changeOf ?? drawChange)(from, to);
    const breaks = bad.get(to);
    return breaks !== undefined && drawChance(node, to) < breaks.share
      ? { ...change, isEmpty: false, end: breaks.end }
      : change;
  }

  function createEnvironment({ metadata: { name, uid } }: Stored<Node>): MachineEnvironment {
    const { int, chance } = ofMachines;
    const write = (body: object, subresource?: string): Promise<void> => {
      try {
        api.patch(nodes, { name }, { type: 'merge', body }, { uid }, subresource);
      } catch (error) {
        // The Node is gone, and the machine with it.
        if (!isKubeError(error, 'SLW_KUBE_NOT_FOUND', 'SLW_KUBE_CONFLICT')) throw error;
      }
      return Promise.resolve();
    };
    return {
      after: (ms, happen) => void time.after(ms, happen),
      read: () => {
        const node = api.find(nodes, { name });
        return Promise.resolve(node?.metadata.uid === uid ? (node.metadata.annotations ?? {}) : null);
      },
      say: (annotations) => write({ metadata: { annotations } }),
      setReady: (isReady) => write({ status: { conditions: [ready(isReady, time.now())] } }, 'status'),
      changeOf: (from, to) => decideChange(name, from, to),
      takes: {
        notice: () => int(10, 2000),
        prepare: () => int(1000, MINUTE),
        apply: () => int(1000, MINUTE),
        boot: () => (!isCalm && chance(options.stuckShare ?? 0) ? Infinity : int(20_000, 10 * MINUTE)),
      },
      isMissed: () => chance(0.7),
    };
  }

  api.onChange(({ resource, type, object }) => {
    if (resourceId(resource) !== resourceId(nodes)) return;
    if (type === 'DELETED') machines.delete(object.metadata.uid);
    else machines.get(object.metadata.uid)?.wake();
  });

  const patchNode = (name: string, body: object, subresource?: string): Stored<Node> =>
    api.patch(nodes, { name }, { type: 'merge', body }, {}, subresource);

  api.create(machineConfigurations, { metadata: { name: 'cluster' }, spec: {} });
  time.after(0, start);

  return {
    api,
    time,
    random,
    referee,
    get starts() {
      return starts;
    },
    calmDown() {
      isCalm = true;
    },
    addPool(name, spec = {}, annotations = {}) {
      const nodeSelector = { matchLabels: { [role(name)]: '' } };
      api.create(machineConfigPools, { metadata: { name, annotations }, spec: { nodeSelector, ...spec } });
    },
    render(pool, breaks) {
      made += 1;
      const name = `rendered-${pool}-${String(made).padStart(4, '0')}`;
      if (breaks !== undefined) bad.set(name, breaks);
      api.create(machineConfigs, { metadata: { name, labels: { [poolLabel]: pool } }, spec: {} });
      const kind = { apiVersion: formatApiVersion(machineConfigs), kind: machineConfigs.kind };
      const configuration = { ...kind, name, source: [{ ...kind, name: `50-change-${made}` }] };
      api.patch(machineConfigPools, { name: pool }, { type: 'merge', body: { spec: { configuration } } });
      return name;
    },
    isBad: (config) => bad.has(config),
    patchPool: (name, body) => void api.patch(machineConfigPools, { name }, { type: 'merge', body }),
    stopRollouts(why) {
      const annotations = { [stopRolloutsAnnotation]: why };
      api.patch(machineConfigurations, { name: 'cluster' }, { type: 'merge', body: { metadata: { annotations } } });
    },
    addNode(pool, { zone, name, isSettled = false } = {}) {
      made += 1;
      const born = readTargetConfig(api.get(machineConfigPools, { name: pool })) ?? '';
      const labels = { ...buildRoleLabels(pool), ...(zone !== undefined && { 'topology.kubernetes.io/zone': zone }) };
      const annotations = isSettled ? settledAt(born) : {};
      const node = api.create(nodes, {
        metadata: { name: name ?? `${pool}-${made}`, labels, annotations },
        status: { conditions: [ready(true, time.now())] },
      });
      const machine = runMachine(createEnvironment(node), born);
      machines.set(node.metadata.uid, machine);
      machine.wake();
    },
    removeNode: (name) => api.delete(nodes, { name }),
    relabel(name, pool) {
      const { metadata } = api.get(nodes, { name });
      const gone = Object.keys(metadata.labels ?? {}).filter((label) => label.startsWith(role('')));
      patchNode(name, {
        metadata: { labels: { ...Object.fromEntries(gone.map((label) => [label, null])), ...buildRoleLabels(pool) } },
      });
    },
    setReady: (name, isReady) =>
      void patchNode(name, { status: { conditions: [ready(isReady, time.now())] } }, 'status'),
    cordon(name, isCordoned) {
      const { metadata } = api.get(nodes, { name });
      // Announced first, because the change itself is checked.
      referee.personCordons(metadata.uid, isCordoned);
      patchNode(name, { spec: { unschedulable: isCordoned ? true : null } });
    },
    drift: (name, hasDrifted) => machines.get(api.get(nodes, { name }).metadata.uid)?.drift(hasDrifted),
    resetMachines: () => machines.forEach((machine) => machine.reset()),
    restart,
  };
}

const settledAt = (config: string): Record<string, string> => ({
  [nodeAnnotations.currentConfig]: config,
  [nodeAnnotations.desiredConfig]: config,
  [nodeAnnotations.state]: 'Done',
  [nodeAnnotations.reason]: '',
});

function ready(isReady: boolean, now: number) {
  const lastTransitionTime = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  return { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime };
}

/** FNV-1a. */
function hash(seed: number, text: string): number {
  let value = seed ^ 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}
