// Plans the effect of applying manifests to a fleet: plain data in, a plan out.
import { listNames } from '@slipway/base/text';
import { formatUnselected, unselectedMachineConfigs } from '../check/unselected.ts';
import type { CodedProblem } from '../problems.ts';
import { canonicalJson } from '../render/rendered-name.ts';
import { stoppedBy } from '../rollout/decide-fleet.ts';
import type { PlannedConfig } from '../update/plan-update.ts';
import type {
  FleetPlan,
  FleetState,
  Machines,
  PlanOutcome,
  PlannedObject,
  PoolPlan,
  ReadConfigs,
} from './fleet-plan.ts';
import { planPool } from './plan-pool.ts';
import { createUpdates } from './planned-rollout.ts';
import { placeNodes, poolSides, type PoolSides } from './pool-config.ts';

export interface PlanRequest {
  readonly now: number;
  readonly before: FleetState;
  readonly after: FleetState;
  readonly objects: readonly PlannedObject[];
  readonly machines: Machines;
  /** Every MachineConfig that a pool of either side selects. */
  readonly read: ReadConfigs;
  readonly showSecrets: boolean;
}

/** `withEvictions` adds the pods that the drains would evict. */
export async function planFleet(request: PlanRequest): Promise<FleetPlan> {
  const { before, after, machines, read, objects, now, showSecrets } = request;
  const configs = new Map<string, PlannedConfig['spec']>(machines.rendered);
  const sides = await poolSides({ before, after }, read, configs);
  const placement = placeNodes(machines.nodes, before, after);
  const fleet = new Map([...placement.members].map(([name, of]) => [name, of.map(({ facts }) => facts)]));
  const updates = createUpdates(configs, after.settings?.spec);
  const hasSamePolicy = canonicalJson(pickPolicy(before)) === canonicalJson(pickPolicy(after));
  const updatesBefore = hasSamePolicy ? updates : createUpdates(configs, before.settings?.spec);
  const targets = new Map(sides.map(({ name, targetBefore }) => [name, targetBefore]));
  const pools: PoolPlan[] = [];
  for (const each of sides) {
    const plan = await planPool({
      now,
      sides: each,
      members: placement.members.get(each.name) ?? [],
      fleet,
      targetBefore: (pool) => targets.get(pool ?? '') ?? null,
      stopped: { before: stoppedBy(before.settings), after: stoppedBy(after.settings) },
      controllerNode: machines.controllerNode,
      configs,
      updates,
      updatesBefore,
      canDrain: machines.nodes.length > 1,
      showSecrets,
    });
    pools.push(plan);
  }
  const problems = [
    ...placement.problems,
    ...renderProblems(sides),
    ...pools.flatMap(irreconcilableIn),
    ...pools.flatMap(unsupportedIn),
  ];
  const warnings = [
    ...placement.warnings,
    ...sides.flatMap(({ after: config }) => config.warnings),
    ...updates.problems,
    ...aloneWarning(pools, machines),
    ...unselectedWarnings(request),
  ];
  return { outcome: computeOutcome(objects, pools, problems), objects, pools, problems, warnings };
}

/** MachineConfigs that these manifests contain, or whose pool they change. */
function unselectedWarnings({ before, after, objects }: PlanRequest): string[] {
  const known = new Set(unselectedMachineConfigs(before.machineConfigs, before.pools).map(({ message }) => message));
  const given = new Set(objects.map(({ kind, name }) => `${kind} ${name}`));
  return formatUnselected(
    unselectedMachineConfigs(after.machineConfigs, after.pools).filter(
      ({ object, message }) => given.has(object) || !known.has(message),
    ),
  );
}

/** A problem of several pools once, with their names. */
function renderProblems(sides: readonly PoolSides[]): CodedProblem[] {
  const all = sides.flatMap(({ name, after }) => after.problems.map((problem) => ({ pool: name, ...problem })));
  const same = Map.groupBy(all, ({ code, message }) => `${code} ${message}`);
  return [...same.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    const { pool, code, message } = first;
    if (message.startsWith(`MachineConfigPool ${pool}`)) return [{ code, message }];
    const names = listNames([pool, ...others.map((each) => each.pool)], { max: MAX_POOLS });
    return [{ code, message: `MachineConfigPool${others.length === 0 ? '' : 's'} ${names}: ${message}` }];
  });
}

const MAX_POOLS = 10;

function computeOutcome(
  objects: readonly PlannedObject[],
  pools: readonly PoolPlan[],
  problems: readonly CodedProblem[],
): PlanOutcome {
  if (problems.length > 0) return 'refused';
  if (pools.some(isDisrupted)) return 'disruption';
  return objects.some(({ change }) => change !== 'same') || pools.some((pool) => pool.isAffected)
    ? 'no disruption'
    : 'no change';
}

function isDisrupted({ nodes, updates }: PoolPlan): boolean {
  const costly = new Set(updates.filter(({ needsDrain }) => needsDrain).map(({ from }) => from));
  // For an empty pool, the effect on a potential machine counts.
  const isEmptyPool = nodes.length === 0 && costly.size > 0;
  return isEmptyPool || nodes.some(({ isAffected, current }) => isAffected && costly.has(current ?? ''));
}

/** Only problems that the manifests cause: the status of pools and nodes already reports existing ones. */
function irreconcilableIn({ nodes, updates, name }: PoolPlan): CodedProblem[] {
  const affected = new Set(nodes.filter(({ isAffected }) => isAffected).map(({ current }) => current));
  return updates
    .filter(({ from }) => nodes.length === 0 || affected.has(from))
    .flatMap(({ irreconcilable }) => irreconcilable)
    .map(({ code, message }) => ({ code, message: `MachineConfigPool ${name}: ${message}` }));
}

/** For the same reason, only on machines that the manifests affect. */
function unsupportedIn({ nodes, updates, name }: PoolPlan): CodedProblem[] {
  const affected = new Set(nodes.filter(({ isAffected }) => isAffected).map((node) => node.name));
  return updates.flatMap(({ unsupported }) =>
    unsupported.flatMap(({ message, ...where }) => {
      const machines = where.nodes.filter((node) => affected.has(node));
      if (machines.length === 0) return [];
      const noun = machines.length === 1 ? 'machine' : 'machines';
      const names = listNames(machines, { max: MAX_MACHINES });
      return [{ code: 'SLW_UPDATE_OS', message: `MachineConfigPool ${name}, ${noun} ${names}: ${message}` }];
    }),
  );
}

const MAX_MACHINES = 10;

const pickPolicy = ({ settings }: FleetState): unknown => [
  settings?.spec.nodeDisruptionPolicy ?? null,
  settings?.spec.irreconcilableValidationOverrides ?? null,
];

function aloneWarning(pools: readonly PoolPlan[], { nodes }: Machines): string[] {
  const needsDrain = pools.some(({ updates }) => updates.some((update) => update.needsDrain));
  if (nodes.length !== 1 || !needsDrain) return [];
  return [
    'the cluster has a single node, so its pods cannot move: the node is not drained, and a reboot stops its pods',
  ];
}
