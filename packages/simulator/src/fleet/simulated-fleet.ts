// A fleet of simulated machines in this process: provisioned by the machine config server, each a directory with the
// real daemon and the identity of its node. Only the machines and their kubelets are simulated.
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type MachineConfigPool, machineConfigPools, nodes, ROLE_LABEL } from '@slipway/api';
import { forEachLimit } from '@slipway/base/concurrency';
import type { NodeAccess } from '@slipway/daemon';
import type { Fetcher } from '@slipway/ignition';
import {
  anyVersion,
  createClient,
  createManager,
  createMetrics,
  createRecorder,
  createWriter,
  impersonating,
  type KubeObject,
  type Log,
  type Resource,
  type Transport,
} from '@slipway/kube';
import { provisionMachine, type ProvisionOptions } from './first-boot.ts';
import { createManyDaemons } from './many-daemons.ts';
import { createPower, type WrapHost } from './power.ts';
import { createSeparateDaemons } from './separate-daemons.ts';
import { computeShares, type PoolShare } from './shares.ts';
import {
  byMachineName,
  machineAt,
  type MachineName,
  nextMachineName,
  readMachineName,
  type SimulatedMachine,
  type Trouble,
} from './simulated-machine.ts';
import { standInBudgets, standInKubelet, standInPods } from './stand-ins.ts';

export interface FleetOptions {
  /** Its user may impersonate nodes, assign roles to them and read the stubs. It stays open. */
  readonly transport: Transport;
  /** The parent of the machines' directories. */
  readonly directory: string;
  /** The minimum number of machines per pool. Existing machines stay. */
  readonly shares: readonly FleetShare[];
  /**
   * Fetches the first config of a machine. It must retry: the server returns 503 until the pool is rendered, and under
   * load.
   */
  readonly fetch: Fetcher;
  /** The version that the daemons report. */
  readonly programVersion: string;
  readonly log: Log;
  readonly machineNamespace?: string;
  /** The duration of a boot. */
  readonly bootMs?: number;
  /**
   * Opens a connection for the daemon of this node, with its credentials: each daemon then has its own connections and
   * watches. Left out: all daemons share `transport` and its watches.
   */
  readonly connectNode?: (nodeName: string) => Promise<Transport>;
  readonly wrapHost?: WrapHost | undefined;
  readonly onBirth?: (provisioned: number, of: number) => void;
  /** Cancels the start: unfinished machines are not created. */
  readonly signal?: AbortSignal;
}

export interface FleetShare extends Omit<PoolShare, 'pool'> {
  readonly pool: string;
  /** The number in the name of the first machine, for a fleet in several processes. Default: 0. */
  readonly first?: number;
}

export interface SimulatedFleet {
  names(): string[];
  /** Adds a machine to this pool and resolves to its name. */
  add(pool: string): Promise<string>;
  /** Removes the machine, its disk and its Node. */
  remove(name: string): Promise<void>;
  /** The disk of a machine. */
  rootOf(name: string): string;
  setTrouble(name: string, trouble: Trouble | null): Promise<void>;
  /** The machines stay, and continue at the next start. */
  stop(): Promise<void>;
}

const AT_ONCE = 8;
const BOOT_MS = 1500;
const REGISTERED_WITHIN_MS = 60_000;

export async function startFleet(options: FleetOptions): Promise<SimulatedFleet> {
  const { transport, directory, fetch, programVersion, log, machineNamespace = 'openshift-machine-api' } = options;
  const ended = new AbortController();
  options.signal?.addEventListener('abort', () => ended.abort(), { once: true });
  const client = createClient(transport);
  const metrics = createMetrics();
  const machines = new Map<string, SimulatedMachine>();
  const there = await machinesIn(directory);
  const accessOf = createNodeAccess(transport, log);
  const daemons =
    options.connectNode === undefined
      ? createManyDaemons({
          programVersion,
          log,
          accessOf,
          watchesDisks: await decideWatchesDisks(there.length, options),
        })
      : createSeparateDaemons({ programVersion, log, connect: options.connectNode });
  const { bootMs = BOOT_MS, wrapHost } = options;
  const power = createPower({ daemons, bootMs, wrapHost, log, signal: ended.signal });
  const kubelets = {
    machineOf: (name: string) => machines.get(name),
    clientOf: (name: string) => accessOf(name).client,
    onPower: power.onChange,
  };
  const manager = createManager({
    client,
    controllers: [...daemons.controllers, standInKubelet(kubelets), standInPods(kubelets), standInBudgets],
    events: createRecorder(client, { component: 'slipway-simulation', log, metrics }),
    log,
    metrics,
  });
  const provisionOptions: ProvisionOptions = { client, machineNamespace, directory, fetch, log, signal: ended.signal };

  async function adoptMachine(name: MachineName, root: string): Promise<SimulatedMachine> {
    const machine = machineAt(name, root);
    machines.set(name.name, machine);
    await power.on(machine);
    return machine;
  }

  function find(name: string): SimulatedMachine {
    const machine = machines.get(name);
    if (machine === undefined) throw new Error(`there is no simulated machine ${name}`);
    return machine;
  }

  async function stop(): Promise<void> {
    ended.abort();
    await power.settled();
    await manager.stop();
    await daemons.stopAll();
  }

  manager.start();
  try {
    await forEachLimit(there, AT_ONCE, async (name) => void (await adoptMachine(name, join(directory, name.name))));
    const missing = missingMachines(options.shares, there);
    let provisioned = 0;
    await forEachLimit(missing, AT_ONCE, async (name) => {
      await adoptMachine(name, await provisionMachine(name, provisionOptions));
      provisioned += 1;
      options.onBirth?.(provisioned, missing.length);
    });
    await untilRegistered([...machines.values()], ended.signal);
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    names: () => [...machines.values()].toSorted(byMachineName).map(({ name }) => name),
    rootOf: (name) => find(name).root,
    async add(pool) {
      const name = nextMachineName(pool, new Set(machines.keys()));
      const machine = await adoptMachine(name, await provisionMachine(name, provisionOptions));
      await untilRegistered([machine], ended.signal);
      return name.name;
    },
    async remove(name) {
      const machine = find(name);
      machines.delete(name);
      await power.off(machine);
      await createWriter(client, { fieldManager: 'slipway-simulation' }).remove(nodes, anyVersion({ name }));
      await rm(machine.root, { recursive: true });
    },
    setTrouble: (name, trouble) => power.setTrouble(find(name), trouble),
    stop,
  };
}

async function machinesIn(directory: string): Promise<MachineName[]> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const names = await readdir(directory);
  return names.flatMap((name) => readMachineName(name) ?? []).toSorted(byMachineName);
}

function missingMachines(shares: FleetOptions['shares'], there: readonly MachineName[]): MachineName[] {
  const taken = new Set(there.map(({ name }) => name));
  return shares.flatMap(({ pool, machines, first }) => {
    const missing = machines - there.filter((machine) => machine.pool === pool).length;
    return Array.from({ length: Math.max(0, missing) }, () => {
      const next = nextMachineName(pool, taken, first);
      taken.add(next.name);
      return next;
    });
  });
}

/**
 * A machine has the permissions of its node: it impersonates the kubelet of that node, over connections that all
 * machines share. Authorization, NodeRestriction and our admission policies treat it like a real one.
 */
function createNodeAccess(transport: Transport, log: Log): (nodeName: string) => NodeAccess {
  const known = new Map<string, NodeAccess>();
  return (nodeName) => {
    const before = known.get(nodeName);
    if (before !== undefined) return before;
    const identity = { user: `system:node:${nodeName}`, groups: ['system:nodes'] };
    const client = createClient(impersonating(transport, identity));
    const events = createRecorder(client, { component: 'machine-config-daemon', instance: nodeName, log });
    const access = { client, events };
    known.set(nodeName, access);
    return access;
  };
}

/** Resolves when their Nodes exist, with role and status. */
async function untilRegistered(machines: readonly SimulatedMachine[], signal: AbortSignal): Promise<void> {
  const giveUpAt = performance.now() + REGISTERED_WITHIN_MS;
  while (machines.some(({ told }) => told === '') && performance.now() < giveUpAt) {
    await wait(20, undefined, { signal });
  }
}

async function decideWatchesDisks(there: number, { shares, log }: FleetOptions): Promise<boolean> {
  const machines = Math.max(
    there,
    shares.reduce((sum, share) => sum + share.machines, 0),
  );
  const limit = await watchLimit();
  if (canWatch(machines, limit)) return true;
  log.warn(
    { machines, limit },
    'not enough inotify watches for the disks of this many simulated machines: drift is checked only every 5 minutes. To detect it immediately, raise fs.inotify.max_user_watches',
  );
  return false;
}

/** Enough for a machine with the built-in configs and some more. */
const WATCHES_PER_MACHINE = 30;
/** Other programs on this machine need some too. */
const WATCH_SHARE = 0.5;
/** Used if the operating system does not report its limit. */
const MAX_MACHINES_UNKNOWN_LIMIT = 50;

export function canWatch(machines: number, limit: number | undefined): boolean {
  return limit === undefined
    ? machines <= MAX_MACHINES_UNKNOWN_LIMIT
    : machines * WATCHES_PER_MACHINE <= limit * WATCH_SHARE;
}

const LIMIT = '/proc/sys/fs/inotify/max_user_watches';

/** Undefined: unknown. */
async function watchLimit(): Promise<number | undefined> {
  const limit = Number(await readFile(LIMIT, 'utf8').catch(() => ''));
  return limit > 0 ? limit : undefined;
}

// The fleet of `npm start`, with everything a newcomer needs to see it work.

export interface LocalFleetOptions extends Omit<FleetOptions, 'shares'> {
  readonly machines: number;
}

export async function startLocalFleet({ machines, ...options }: LocalFleetOptions): Promise<SimulatedFleet> {
  const write = createWriter(createClient(options.transport), { fieldManager: 'slipway-start' });
  const shares = computeShares(machines);
  if (shares.some(({ pool }) => pool === 'infra')) await write.createIfAbsent(machineConfigPools, infraPool);
  await write.createIfAbsent(serviceAccounts, defaultAccount);
  return startFleet({ ...options, shares });
}

/** An example of a custom pool: its machines are workers, with the configs of the role infra in addition. */
const infraPool: MachineConfigPool = {
  metadata: { name: 'infra' },
  spec: {
    machineConfigSelector: { matchExpressions: [{ key: ROLE_LABEL, operator: 'In', values: ['worker', 'infra'] }] },
    nodeSelector: { matchLabels: { 'node-role.kubernetes.io/infra': '' } },
  },
};

const serviceAccounts: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};

/** Without it no pod can be created in the namespace `default`. In a cluster, kube-controller-manager creates it. */
const defaultAccount: KubeObject = { metadata: { namespace: 'default', name: 'default' } };
