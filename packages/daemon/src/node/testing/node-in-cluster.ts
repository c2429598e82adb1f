// The loop of one node on a simulated machine in memory. Its reports are recorded, and appear on its Node.
import type { MachineConfiguration } from '@slipway/api';
import { nodeAnnotations } from '@slipway/api/names';
import type { Clock } from '@slipway/base/clock';
import { type Next, silentLog } from '@slipway/kube';
import { createSimulatedHost, makeSimulatedMachine } from '@slipway/simulator';
import type { UpdateResult } from '../../apply/updater.ts';
import { DaemonError } from '../../errors.ts';
import { type FileSystem, ownOwners } from '../../host/file-system.ts';
import type { Host } from '../../host/host.ts';
import { emptyImage } from '../../host/testing/disk-image.ts';
import { createMemoryDisk } from '../../host/testing/memory-disk.ts';
import { buildAnnotations } from '../../report/node-annotations.ts';
import type { NodeSnapshot } from '../../report/snapshot.ts';
import { type StoredConfig, writeCurrentConfig } from '../../stored-config.ts';
import { type LocalNode, openLocalNode } from '../local-node.ts';
import { createNodeLoop, type NodeLoop } from '../node-loop.ts';

export interface NodeInCluster {
  readonly files: FileSystem;
  readonly local: LocalNode;
  /** Annotations of its Node. Tests write them like the controllers. */
  readonly annotations: Record<string, string>;
  /** The rendered configs of the cluster. */
  readonly configs: Map<string, StoredConfig>;
  /** Its reports in order, one line each. */
  readonly told: string[];
  readonly events: string[];
  /** The names of the configs that were read. */
  readonly read: string[];
  readonly drift: { found: string; readonly calls: string[] };
  osFailures: number;
  settings: MachineConfiguration['spec'] | undefined;
  /** Every report fails while it is set. */
  outage: Error | null;
  /** Older annotations that the watch shows; null: it is up to date. */
  behind: Record<string, string> | null;
  step(): Promise<Next>;
  /** Runs steps until the node waits for something. */
  settle(): Promise<Next>;
  readonly loop: NodeLoop;
}

export interface NodeInClusterOptions {
  /** The config that the disk is at. Left out: unknown. */
  readonly current?: StoredConfig;
  /** The disk of a machine that exists already. Default: a new machine. */
  readonly files?: FileSystem;
  /** Those of its Node so far. */
  readonly annotations?: Record<string, string>;
  readonly wrap?: (host: Host) => Host;
  readonly wrapLocal?: (local: LocalNode) => LocalNode;
  readonly recovered?: UpdateResult;
  readonly clock?: Pick<Clock, 'now'>;
}

export async function nodeInCluster(options: NodeInClusterOptions = {}): Promise<NodeInCluster> {
  const files = options.files ?? (await createMachine(options.current));
  const plain = createSimulatedHost({ root: '/', files });
  const host = options.wrap?.(plain) ?? plain;
  const onStep: NodeLoop['onStep'] = (step) => node.loop.onStep(step);
  const opened = await openLocalNode({ host, programVersion: 'test', onStep });
  const local = options.wrapLocal?.(opened) ?? opened;
  const configs = new Map<string, StoredConfig>();
  if (options.current !== undefined) configs.set(options.current.name, options.current);
  const { annotations = {} } = options;
  const node: NodeInCluster = {
    files,
    local,
    annotations,
    configs,
    told: [],
    events: [],
    read: [],
    drift: { found: '', calls: [] },
    osFailures: 0,
    settings: undefined,
    outage: null,
    behind: null,
    step: () => node.loop.step(seen(), new AbortController().signal),
    async settle() {
      for (let steps = 0; steps < 20; steps += 1) {
        const next = await node.step();
        if (next.type === 'done' || next.afterMs > 0) return next;
      }
      throw new Error('the node does not settle');
    },
    loop: createNodeLoop({
      host,
      local,
      readConfig,
      readNode: async () => buildNode(annotations),
      readTarget: readConfig,
      reporter: { report, event: (reason, message) => void node.events.push(`${reason}: ${message}`) },
      metrics: {
        observe: () => {},
        runsOn: () => {},
        rebootFailed: () => {},
        drifted: () => {},
        osUpdateFailed: () => void (node.osFailures += 1),
      },
      drift: {
        found: () => node.drift.found,
        pause: async () => void node.drift.calls.push('pause'),
        resume: ({ name }) => void node.drift.calls.push(`resume ${name}`),
      },
      log: silentLog(),
      recovered: options.recovered ?? (await local.recover()),
      ...(options.clock !== undefined && { clock: options.clock }),
    }),
  };

  function seen() {
    const metadata = { name: 'cluster' };
    const { settings: spec } = node;
    return {
      node: buildNode(node.behind ?? annotations),
      machineConfigNode: undefined,
      machineConfiguration: spec === undefined ? undefined : { metadata, spec },
    };
  }

  function buildNode(current: Record<string, string>) {
    return { metadata: { name: 'worker-1', uid: 'u', annotations: { ...current } } };
  }

  async function readConfig(name: string): Promise<StoredConfig> {
    node.read.push(name);
    const config = configs.get(name);
    if (config === undefined) throw new DaemonError('SLW_DAEMON_CONFIG', `MachineConfig ${name} does not exist`);
    return config;
  }

  async function report(snapshot: NodeSnapshot): Promise<void> {
    if (node.outage !== null) throw node.outage;
    node.told.push(inOneLine(snapshot));
    Object.assign(annotations, buildAnnotations(snapshot));
  }

  return node;
}

async function createMachine(current: StoredConfig | undefined): Promise<FileSystem> {
  const files = createMemoryDisk(emptyImage(ownOwners()));
  await makeSimulatedMachine(files);
  if (current !== undefined) await writeCurrentConfig(files, current);
  return files;
}

/** The fields of a snapshot in order, without the empty ones. */
export function inOneLine({ currentConfig, phase, update, problem, desiredDrain, ...rest }: NodeSnapshot): string {
  return [
    `${currentConfig ?? 'unknown'}: ${phase}`,
    update === null ? '' : `update to ${update.target}${scopeText(update)}`,
    desiredDrain ?? '',
    rest.drainBlocked === undefined || rest.drainBlocked === '' ? '' : `blocked by ${rest.drainBlocked}`,
    problem === null ? '' : `${problem.state} ${problem.code}${problem.undo === undefined ? '' : ` (${problem.undo})`}`,
    rest.irreconcilable.map(({ field }) => `without ${field}`).join(' '),
  ]
    .filter((text) => text !== '')
    .join(', ');
}

function scopeText({ target: _target, postAction, ...flags }: NonNullable<NodeSnapshot['update']>): string {
  const needs = Object.entries(flags).flatMap(([name, isNeeded]) => (isNeeded ? [name] : []));
  const all = [...needs, ...(postAction === '' ? [] : [postAction])];
  return all.length === 0 ? '' : ` with ${all.join(', ')}`;
}

export const desire = (node: NodeInCluster, config: StoredConfig): void => {
  node.configs.set(config.name, config);
  node.annotations[nodeAnnotations.desiredConfig] = config.name;
};

/** It reboots: another one must be started on its disk. */
export const isDown = ({ told }: NodeInCluster): boolean => told.at(-1)?.includes(': rebooting') === true;

/** Does what the drain controller does. */
export const applyDrain = ({ annotations }: NodeInCluster): void => {
  const { [nodeAnnotations.desiredDrain]: desired } = annotations;
  if (desired !== undefined) annotations[nodeAnnotations.lastAppliedDrain] = desired;
};
