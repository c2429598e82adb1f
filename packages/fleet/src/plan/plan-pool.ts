// The effect of manifests on one pool.
import { HIDDEN } from '@slipway/base/masking';
import { diffRendered } from '../render/diff.ts';
import { canonicalJson } from '../render/rendered-name.ts';
import type { NodeVerdict } from '../rollout/facts.ts';
import { type PoolInFleet, buildRolloutRequest } from '../rollout/decide-fleet.ts';
import { readPoolFacts } from '../rollout/read-facts.ts';
import { findUpdateLimits, formatOSLimits } from '../update/os-limits.ts';
import type { PlannedConfig } from '../update/plan-update.ts';
import type { Change, PathState, UpdatePlan } from '../update/update-plan.ts';
import { type Explainable, withCauses, withOrigins } from './change-origins.ts';
import type { NodePlan, PlannedChange, PlannedUpdate, PoolPlan, UnsupportedSetting } from './fleet-plan.ts';
import { simulateRollout, type Updates } from './planned-rollout.ts';
import type { Member, PoolSides } from './pool-config.ts';

/** Hides even the digest of a secret: a short secret can be guessed from it. */
function shownChanges(changes: readonly Change[], showSecrets: boolean): readonly Change[] {
  if (showSecrets) return changes;
  return changes.map((change) => {
    if (change.kind !== 'path' || !change.secret) return change;
    return Object.assign({}, change, { before: withoutDigest(change.before), after: withoutDigest(change.after) });
  });
}

function withoutDigest(state: PathState | null): PathState | null {
  if (state?.kind !== 'file') return state;
  return { ...state, contents: { ...state.contents, sha256: HIDDEN } };
}

export interface PoolRequest {
  readonly now: number;
  readonly sides: PoolSides;
  readonly members: readonly Member[];
  /** The previous target of a pool. */
  readonly targetBefore: (pool: string | null) => string | null;
  /** Why the fleet-wide stop switch is on; null: it is off. */
  readonly stopped: { readonly before: string | null; readonly after: string | null };
  /** The machines of every pool, including this one. */
  readonly fleet: PoolInFleet['members'];
  readonly controllerNode: string | null;
  /** All known rendered configs. */
  readonly configs: ReadonlyMap<string, PlannedConfig['spec']>;
  readonly updates: Updates;
  /** With the current disruption policy. The same object if it does not change. */
  readonly updatesBefore: Updates;
  /** A single machine is not drained: no other could run its pods. */
  readonly canDrain: boolean;
  readonly showSecrets: boolean;
}

export async function planPool(request: PoolRequest): Promise<PoolPlan> {
  const { sides, now, members, stopped, fleet, controllerNode } = request;
  const { pool, history } = readPoolFacts(sides.pool);
  const { decision, plan: rollout } = simulateRollout(
    buildRolloutRequest({ now, pool, members: fleet, stopped: stopped.after, ownNode: controllerNode }),
    history,
  );
  const { target } = decision;
  const waveOf = new Map(rollout.waves.flatMap(({ number, nodes }) => nodes.map((node) => [node, number] as const)));
  const updates = target === null ? [] : await updatesTo(target, request);
  const updateFrom = new Map(updates.map((update) => [update.from, update]));
  const isFreed = wasHeldUp(request) && rollout.phase !== 'paused' && rollout.phase !== 'stopped';
  const dearer = await costOtherwise(updates, request);
  const circumstances = { ...request, isFreed, dearer };
  const nodes = members.map((member) => {
    const { name } = member.facts;
    const place = { verdict: decision.nodes.get(name), wave: waveOf.get(name) ?? null, target };
    const update = updateFrom.get(member.facts.current ?? '');
    return planNode(member, place, update, circumstances);
  });
  const comparedWith = sides.targetBefore ?? findOrigin(members, request);
  return {
    name: sides.name,
    before: sides.targetBefore,
    after: target,
    newest: sides.after.newest,
    isNew: sides.poolBefore === undefined,
    isAffected: sides.isChanged || sides.targetBefore !== target || nodes.some((node) => node.isAffected),
    comparedWith,
    changes: target === null || comparedWith === null ? [] : await changesTo(target, comparedWith, request),
    rollout,
    updates,
    nodes,
  };
}

interface NodePlace {
  readonly verdict: NodeVerdict | undefined;
  readonly wave: number | null;
  readonly target: string | null;
}

interface NodeCircumstances extends Pick<PoolRequest, 'sides' | 'targetBefore' | 'canDrain'> {
  /** The pool is no longer paused or stopped. */
  readonly isFreed: boolean;
  /** Configs from which the update now has other actions. */
  readonly dearer: ReadonlySet<string>;
}

function planNode(
  member: Member,
  { verdict, wave, target }: NodePlace,
  update: PlannedUpdate | undefined,
  circumstances: NodeCircumstances,
): NodePlan {
  const { facts, poolBefore } = member;
  const { name, current } = facts;
  const turn = decideTurn(current, target, verdict);
  const isDrained = circumstances.canDrain && update?.needsDrain === true;
  return {
    name,
    movesFrom: poolBefore === circumstances.sides.name ? null : poolBefore,
    current,
    target,
    turn,
    why: verdict?.why ?? '',
    wave,
    isAffected: turn !== 'none' && isOtherwise(member, target, circumstances),
    drain: turn !== 'none' && isDrained ? { evicted: null, blockedBy: [] } : null,
  };
}

/** Whether the manifests change what happens to the machine. */
function isOtherwise(
  { facts, poolBefore }: Member,
  target: string | null,
  { isFreed, dearer, targetBefore }: NodeCircumstances,
): boolean {
  return isFreed || dearer.has(facts.current ?? '') || targetBefore(poolBefore) !== target;
}

/** A pool can be paused, and all pools can be stopped. */
function wasHeldUp({ sides, stopped }: PoolRequest): boolean {
  return sides.poolBefore?.spec.paused === true || stopped.before !== null;
}

function decideTurn(current: string | null, target: string | null, verdict: NodeVerdict | undefined): NodePlan['turn'] {
  if (target === null || current === target) return 'none';
  return current === null || verdict?.phase === 'skipped' ? 'skipped' : 'update';
}

/** One for each current config of a machine. For an empty pool, the effect on a machine at the previous target. */
async function updatesTo(
  target: string,
  { members, updates, sides, configs, showSecrets }: PoolRequest,
): Promise<PlannedUpdate[]> {
  const byConfig = Map.groupBy(members, ({ facts }) => facts.current);
  const starts = [...byConfig.keys()].filter((name) => name !== null && name !== target);
  if (members.length === 0 && sides.targetBefore !== null && sides.targetBefore !== target) {
    starts.push(sides.targetBefore);
  }
  const planned: PlannedUpdate[] = [];
  for (const from of starts.filter((name) => name !== null).sort()) {
    const machines = byConfig.get(from) ?? [];
    const nodes = machines.map(({ facts }) => facts.name);
    const update = await updates.between(from, target);
    const origins = { before: findExplainable(sides, from), after: findExplainable(sides, target) };
    const unsupported = update === null ? [] : withCauses(findUnsupported(machines, update, configs), target, origins);
    planned.push({ ...describe({ from, to: target, nodes }, update, { origins, showSecrets }), unsupported });
  }
  return planned;
}

function findUnsupported(
  machines: readonly Member[],
  update: UpdatePlan,
  configs: PoolRequest['configs'],
): UnsupportedSetting[] {
  const findConfig = (name: string): PlannedConfig => ({ name, spec: configs.get(name) ?? {} });
  const [current, desired] = [findConfig(update.from), findConfig(update.to)];
  const found = machines.flatMap(({ facts: { name }, os }) =>
    findUpdateLimits(update, { current, desired }, os).map((limit) => {
      return { field: limit.field, message: formatOSLimits(desired, [limit]), name };
    }),
  );
  return [...Map.groupBy(found, ({ message }) => message)].map(([message, each]) => {
    return { field: each[0]?.field ?? '', message, nodes: each.map(({ name }) => name) };
  });
}

function describe(
  way: Pick<PlannedUpdate, 'from' | 'to' | 'nodes'>,
  update: UpdatePlan | null,
  { origins, showSecrets }: { origins: Parameters<typeof withCauses>[2]; showSecrets: boolean },
): Omit<PlannedUpdate, 'unsupported'> {
  // An unknown effect counts as the worst.
  if (update === null) return { ...way, ...UNKNOWN };
  const { actions, needsDrain, causes } = update;
  const changes = shownChanges(update.changes, showSecrets);
  const irreconcilable = withCauses(update.irreconcilable, way.to, origins);
  const tolerated = withCauses(update.tolerated, way.to, origins);
  return { ...way, actions, needsDrain, causes, changes, irreconcilable, tolerated };
}

const UNKNOWN = { actions: null, needsDrain: true, causes: [], changes: [], irreconcilable: [], tolerated: [] };

/** Configs from which the update has other actions, because the manifests change the disruption policy. */
async function costOtherwise(
  planned: readonly PlannedUpdate[],
  { updates, updatesBefore }: PoolRequest,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  if (updates === updatesBefore) return found;
  for (const { from, to, actions } of planned) {
    const before = await updatesBefore.between(from, to);
    if (canonicalJson(before?.actions ?? []) !== canonicalJson(actions ?? [])) found.add(from);
  }
  return found;
}

/** The common config of all machines of a new pool. */
function findOrigin(members: readonly Member[], { targetBefore }: PoolRequest): string | null {
  const origins = new Set(members.map(({ poolBefore }) => targetBefore(poolBefore)));
  const [origin = null] = origins;
  return origins.size === 1 ? origin : null;
}

async function changesTo(target: string, from: string, request: PoolRequest): Promise<PlannedChange[]> {
  const { configs, sides, showSecrets } = request;
  const [before, after] = [configs.get(from), configs.get(target)];
  if (from === target || before === undefined || after === undefined) return [];
  const { items } = await diffRendered(before, after, { showSecrets });
  return withOrigins(items ?? [], findExplainable(sides, from), findExplainable(sides, target));
}

const findExplainable = ({ before, after }: PoolSides, name: string): Explainable | null =>
  [before, after].find((side) => side.explainable?.rendered.name === name)?.explainable ?? null;

// Groups of machines with the same effect.

export interface NodeGroup {
  /** In update order. */
  readonly nodes: readonly NodePlan[];
  /** Undefined: their current config is not known. */
  readonly update: PlannedUpdate | undefined;
  readonly turn: NodePlan['turn'];
  readonly movesFrom: string | null;
  /** Why they cannot be updated; '' if they can. */
  readonly why: string;
}

/** The largest group first. Unaffected machines are omitted. */
export function nodeGroups({ nodes, updates, rollout }: Pick<PoolPlan, 'nodes' | 'updates' | 'rollout'>): NodeGroup[] {
  const updateFrom = new Map(updates.map((update) => [update.from, update]));
  const order = new Map(rollout.waves.flatMap((wave) => wave.nodes).map((name, index) => [name, index]));
  const getOrder = ({ name }: NodePlan): number => order.get(name) ?? order.size;
  const groups = Map.groupBy(
    nodes.filter(({ turn, movesFrom }) => turn !== 'none' || movesFrom !== null),
    ({ turn, current, movesFrom, why }) => JSON.stringify([turn, current, movesFrom, turn === 'skipped' ? why : '']),
  );
  return [...groups.values()]
    .flatMap((members) => {
      const [first] = members;
      if (first === undefined) return [];
      const { turn, current, movesFrom, why } = first;
      const update = turn === 'none' ? undefined : updateFrom.get(current ?? '');
      const sorted = [...members].sort((a, b) => getOrder(a) - getOrder(b) || (a.name < b.name ? -1 : 1));
      return [{ nodes: sorted, update, turn, movesFrom, why: turn === 'skipped' ? why : '' }];
    })
    .sort((a, b) => b.nodes.length - a.nodes.length);
}
