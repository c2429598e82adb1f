// A small fleet for tests: pools, machines with the configs of their pools, and manifests to apply.
import {
  type MachineConfig,
  type MachineConfigPool,
  type MachineConfiguration,
  type Node,
  nodeAnnotations,
  osAbilityAnnotation,
  ROLE_LABEL,
} from '@slipway/api';
import { missingBuiltIn } from '../first-boot/built-in.ts';
import type { Streams } from '../os-streams/available.ts';
import { type AppliedManifests, applyManifests } from '../plan/apply-manifests.ts';
import type { FleetPlan, FleetState, Machines, PoolPlan, ReadConfigs } from '../plan/fleet-plan.ts';
import { planFleet } from '../plan/plan-fleet.ts';
import { configNow } from '../plan/pool-config.ts';
import type { OSFacts } from '../update/os-limits.ts';
import { missingPools } from '../pool-membership.ts';
import type { ConfigOrigin } from '../render/ignition.ts';
import { readMachineConfig } from '../render/input.ts';
import { type DecidedFleet, decideFleet } from '../rollout/decide-fleet.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');

export const withFile = (path: string, text: string, more: object = {}): NonNullable<MachineConfig['spec']> => ({
  config: {
    ignition: { version: '3.4.0' },
    storage: { files: [{ path, mode: 0o644, contents: { source: `data:,${encodeURIComponent(text)}` } }] },
  },
  ...more,
});

export const machineConfig = (name: string, role: string, spec: NonNullable<MachineConfig['spec']>): MachineConfig => ({
  metadata: { name, labels: { [ROLE_LABEL]: role } },
  spec,
});

export const customPool = (name: string, more: object = {}): MachineConfigPool => ({
  metadata: { name },
  spec: {
    machineConfigSelector: { matchExpressions: [{ key: ROLE_LABEL, operator: 'In', values: ['worker', name] }] },
    nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: '' } },
    ...more,
  },
});

export interface SampleNode {
  readonly name: string;
  readonly roles?: readonly string[];
  /** The pool whose config it has; omitted: the pool of its first role. */
  readonly pool?: string;
  /** The desired and the current config; omitted: the config of that pool, and the desired one. */
  readonly desired?: string;
  readonly current?: string;
  readonly state?: string;
  readonly cordoned?: boolean;
  readonly zone?: string;
  /** What the kubelet and the daemon report about its OS; omitted: nothing. */
  readonly os?: Partial<OSFacts>;
}

export interface SampleFleet {
  readonly machineConfigs?: readonly MachineConfig[];
  /** In addition to the default pools; one of the same name replaces it. */
  readonly pools?: readonly MachineConfigPool[];
  readonly settings?: MachineConfiguration;
  readonly nodes?: readonly SampleNode[];
  readonly controllerNode?: string;
  readonly streams?: Streams;
}

/** Every pool is rendered and, unless its status differs, proven; every machine has the config of its pool. */
export async function planSample(fleet: SampleFleet, given: Partial<AppliedManifests>): Promise<FleetPlan> {
  const { before, machines } = await standingFleet(fleet);
  const applied = applyManifests(before, { machineConfigs: [], pools: [], settings: undefined, ...given });
  return planFleet({
    now: NOW,
    before,
    after: applied.state,
    objects: applied.objects,
    machines,
    read: await readAll([...before.machineConfigs, ...applied.state.machineConfigs]),
    showSecrets: false,
  });
}

/** What the controllers decide on the same fleet before anything is applied. */
export async function decideSample(fleet: SampleFleet): Promise<DecidedFleet> {
  const { before, machines } = await standingFleet(fleet);
  const { pools, settings } = before;
  return decideFleet({ pools, nodes: machines.nodes, machineConfiguration: settings }, NOW);
}

async function readAll(machineConfigs: readonly MachineConfig[], origin?: ConfigOrigin): Promise<ReadConfigs> {
  const read = machineConfigs.map(async (each) => [each, await readMachineConfig(each, undefined, origin)] as const);
  return new Map(await Promise.all(read));
}

async function standingFleet(fleet: SampleFleet): Promise<{ before: FleetState; machines: Machines }> {
  const { pools = [], machineConfigs = [], nodes = [], settings, controllerNode = null, streams = null } = fleet;
  const names = pools.map(({ metadata }) => metadata.name);
  const allPools = [...pools, ...missingPools(names)];
  const bare: FleetState = {
    pools: allPools,
    machineConfigs: [
      ...missingBuiltIn({ machineConfigs, pools: allPools }, { controllerVersion: '1' }),
      ...machineConfigs,
    ],
    settings,
    osImages: {},
    streams,
    controllerVersion: '1',
  };
  // Like what an earlier version has rendered: contents are not checked.
  const read = await readAll(bare.machineConfigs, 'rendered');
  const rendered = new Map<string, NonNullable<MachineConfig['spec']>>();
  const rolled: MachineConfigPool[] = [];
  for (const pool of bare.pools) {
    const { explainable } = await configNow(pool, bare, read, new Map());
    if (explainable === null) throw new Error(`pool ${pool.metadata.name} cannot be rendered`);
    rendered.set(explainable.rendered.name, explainable.rendered.spec);
    rolled.push(proven(pool, explainable.rendered.name));
  }
  return {
    before: { ...bare, pools: rolled },
    machines: { nodes: nodes.map((node, index) => nodeAt(node, index, rolled)), rendered, controllerNode },
  };
}

function proven(pool: MachineConfigPool, name: string): MachineConfigPool {
  return {
    ...pool,
    spec: { ...pool.spec, configuration: { name } },
    status: { configuration: { name }, ...pool.status },
  };
}

function nodeAt(node: SampleNode, index: number, pools: readonly MachineConfigPool[]): Node {
  const { name, roles, cordoned, zone, os } = { roles: ['worker'], cordoned: false, zone: '', os: {}, ...node };
  const { pool = roles[0] } = node;
  const config = pools.find(({ metadata }) => metadata.name === pool)?.spec.configuration?.name ?? '';
  const { desired = config, current = desired, state = 'Done' } = node;
  return {
    metadata: {
      name,
      creationTimestamp: new Date(NOW - 86_400_000 + index * 1000).toISOString(),
      labels: {
        ...Object.fromEntries(roles.map((role) => [`node-role.kubernetes.io/${role}`, ''])),
        'topology.kubernetes.io/zone': zone,
      },
      annotations: {
        [nodeAnnotations.currentConfig]: current,
        [nodeAnnotations.desiredConfig]: desired,
        [nodeAnnotations.state]: state,
        ...(typeof os.ability === 'string' && { [osAbilityAnnotation]: os.ability }),
      },
    },
    spec: { unschedulable: cordoned },
    status: {
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: new Date(NOW - 1000).toISOString() }],
      nodeInfo: { osImage: os.name ?? '', architecture: os.architecture ?? '' },
    },
  };
}

/** The plan of one pool. */
export function poolIn(plan: FleetPlan, name: string): PoolPlan {
  const found = plan.pools.find((pool) => pool.name === name);
  if (found === undefined) throw new Error(`the plan has no pool ${name}`);
  return found;
}
