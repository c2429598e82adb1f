// A plan as human-readable text.
import { count } from '@slipway/base/text';
import { type Cause, needsReboot, type NodeAction } from '@slipway/fleet';
import {
  type FleetPlan,
  type NodeGroup,
  nodeGroups,
  type NodePlan,
  type PlannedChange,
  type PlannedObject,
  type PlannedUpdate,
  type PoolPlan,
} from '@slipway/fleet/plan';
import { formatItem } from '@slipway/ignition';
import { durationText, nameList, safeText, shortConfig } from '../cli/terminal.ts';

export interface TextOptions {
  /** Every machine, pod and reason by name. */
  readonly verbose: boolean;
}

export function planText(plan: FleetPlan, options: TextOptions): string {
  const told = plan.pools.filter(isShown);
  const others = plan.pools.filter((pool) => !isShown(pool)).map(({ name }) => name);
  const blocks = [
    objectsText(plan.objects),
    ...told.map((pool) => poolText(pool, options)),
    ...(others.length === 0 ? [] : [`${others.length === 1 ? 'Pool' : 'Pools'} ${others.join(', ')}: nothing changes`]),
    resultText(plan),
  ];
  return `${blocks.map(safeText).join('\n\n')}\n`;
}

/** A pool with an update in progress is shown too, even if these manifests do not affect it. */
const isShown = ({ isAffected, nodes }: PoolPlan): boolean => isAffected || nodes.some(({ turn }) => turn !== 'none');

function objectsText(objects: readonly PlannedObject[]): string {
  const changed = objects.filter(({ change }) => change !== 'same');
  const same = objects.length - changed.length;
  const lines = changed.map(({ kind, name, change }) => `  ${kind} ${name}: ${change}`);
  if (same > 0) lines.push(`  ${changed.length === 0 ? 'all' : 'others'} (${same}): unchanged`);
  return ['Objects', ...lines].join('\n');
}

function poolText(pool: PoolPlan, options: TextOptions): string {
  const parts = [
    headLines(pool),
    changeLines(pool.changes),
    nodeGroups(pool).flatMap((group) => groupLines(group, options)),
    pool.nodes.length === 0 ? pool.updates.flatMap((update) => wouldBeLines(update, options)) : [],
    waveLines(pool, options),
    drainLines(pool, options.verbose),
    timeLines(pool),
  ];
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function headLines(pool: PoolPlan): string[] {
  const { name, before, after, newest, nodes, rollout, isNew } = pool;
  const stays = after === null ? 'no config' : `stays at ${shortConfig(after)}`;
  const target = before === after ? stays : `${shortConfig(before)} → ${shortConfig(after)}`;
  const machines = nodes.length === 0 ? 'no machines' : count(nodes.length, 'machine');
  const lines = [`Pool ${name}${isNew ? ' (new)' : ''}: ${machines}, ${target}`];
  if (newest !== after) lines.push(`  held: the newest config is ${shortConfig(newest)}`);
  if (!pool.isAffected) lines.push('  regardless of these manifests:');
  const isGoing = rollout.phase === 'updating' || rollout.phase === 'updated';
  if (nodes.length > 0 && (!isGoing || rollout.waves.length === 0))
    lines.push(`  ${rollout.phase}: ${rollout.summary}`);
  return lines;
}

function changeLines(changes: readonly PlannedChange[]): string[] {
  return changes.flatMap((change) => indented(formatItem(change, originText(change))));
}

const indented = (text: string): string[] => text.split('\n').map((line) => `  ${line}`);

function originText({ from, was, change }: PlannedChange): string {
  const others = was.filter((name) => !from.includes(name));
  if (change === 'removed') return was.length === 0 ? '' : `(previously from ${was.join(', ')})`;
  const before = others.length === 0 ? '' : `, previously from ${others.join(', ')}`;
  return from.length === 0 ? '' : `(from ${from.join(', ')}${before})`;
}

function groupLines({ nodes, update, turn, movesFrom, why }: NodeGroup, options: TextOptions): string[] {
  const who = `${count(nodes.length, 'machine')} (${nameList(
    nodes.map(({ name }) => name),
    options.verbose,
  )})`;
  const move = movesFrom === null ? '' : ` from pool ${movesFrom}`;
  const from = update === undefined ? '' : ` at ${shortConfig(update.from)}`;
  const head = `  ${who}${move}${from}: ${turn === 'none' ? 'nothing changes' : costText(update)}`;
  const reason = why === '' ? [] : [`    not updated for now: ${why}`];
  return [head, ...reason, ...(update === undefined ? [] : reasonLines(update, options))];
}

/** For a pool without known machines. */
const wouldBeLines = (update: PlannedUpdate, options: TextOptions): string[] => [
  `  a machine at ${shortConfig(update.from)}: ${costText(update)}`,
  ...reasonLines(update, options),
];

function costText(update: PlannedUpdate | undefined): string {
  if (update === undefined || update.actions === null) return 'the required actions are unknown';
  const isUnsupported = update.unsupported.some(({ nodes }) => nodes.length === update.nodes.length);
  if (update.irreconcilable.length > 0 || isUnsupported) return 'cannot be updated to it';
  if (update.actions.length === 0) return 'no drain, reboot or restart';
  const drain = update.needsDrain && !update.actions.some(({ type }) => type === 'Drain') ? ['drain'] : [];
  return [...drain, ...update.actions.map(actionText)].join(', ');
}

const WORDS: Readonly<Record<NodeAction['type'], string>> = {
  Drain: 'drain',
  DaemonReload: 'systemctl daemon-reload',
  Reboot: 'reboot',
  Reload: 'reload',
  Restart: 'restart',
};

const actionText = (action: NodeAction): string =>
  'unit' in action ? `${WORDS[action.type]} ${action.unit}` : WORDS[action.type];

const MAX_REASONS = 5;

/** The most disruptive reasons come first, so that a short list includes them. */
function reasonLines(
  { causes, changes, irreconcilable, tolerated, unsupported }: PlannedUpdate,
  { verbose }: TextOptions,
): string[] {
  const kinds = new Map<string, string>();
  for (const change of changes) {
    if (change.kind === 'path') kinds.set(change.path, (change.after ?? change.before)?.kind ?? 'file');
  }
  const sorted = [...causes].sort((a, b) => computeRank(a) - computeRank(b));
  const shown = verbose ? sorted : sorted.slice(0, MAX_REASONS);
  const more = sorted.length - shown.length;
  return [
    ...irreconcilable.map(({ message }) => `    cannot be applied: ${message}`),
    ...unsupported.map(({ message, nodes }) => `    cannot be applied to ${nameList(nodes, verbose)}: ${message}`),
    ...tolerated.map(({ message }) => `    tolerated: ${message}`),
    ...shown.map((cause) => causeText(cause, kinds)),
    ...(more > 0 ? [`    and ${more} more (-v shows them)`] : []),
  ];
}

/** For a policy, everything at a path is a file. */
function causeText({ item, actions, because }: Cause, kinds: ReadonlyMap<string, string>): string {
  const cost = actions.length === 0 ? 'no action' : actions.map(actionText).join(', ');
  const kind = item.kind === 'file' ? (kinds.get(item.name) ?? item.kind) : item.kind;
  return `    ${kind} ${item.name}: ${cost} (${because})`;
}

function computeRank({ actions }: Cause): number {
  if (needsReboot(actions)) return 0;
  return actions.length === 0 ? 2 : 1;
}

function waveLines({ rollout }: PoolPlan, { verbose }: TextOptions): string[] {
  const { waves, maxUnavailable, takenBy } = rollout;
  if (waves.length === 0) return [];
  const taken = takenBy.length === 0 ? '' : `; already unavailable: ${nameList(takenBy, verbose)}`;
  const lines = waves.map(({ number, of, nodes, atATime, soakSeconds }, index) => {
    const limit = nodes.length > atATime ? `, ${atATime} at a time` : '';
    const soak = soakSeconds > 0 && index < waves.length - 1 ? `; then a soak of ${durationText(soakSeconds)}` : '';
    return `    ${number} of ${of}: ${count(nodes.length, 'machine')}${limit}: ${nameList(nodes, verbose)}${soak}`;
  });
  return [`  Waves (at most ${maxUnavailable} unavailable${taken})`, ...lines];
}

function timeLines({ rollout }: PoolPlan): string[] {
  if (rollout.waves.length === 0) return [];
  const { estimateSeconds } = rollout;
  return [
    estimateSeconds === null
      ? '  Time: unknown, the pool has no past rollouts'
      : `  Time: about ${durationText(estimateSeconds)}, based on past rollouts of the pool`,
  ];
}

function resultText({ outcome, pools }: FleetPlan): string {
  switch (outcome) {
    case 'no change':
      return 'Result: nothing changes';
    case 'refused':
      return 'Result: this would fail; see the problems below';
    case 'no disruption':
      return `Result: ${changeText(countAffected(pools, false), pools)}`;
    case 'disruption':
      return `Result: ${disruptionText(countAffected(pools, true), countAffected(pools, false))}`;
  }
}

/** The number of machines that the manifests change, with or without a drain or reboot. */
function countAffected(pools: readonly PoolPlan[], isDisruptive: boolean): number {
  return pools.flatMap(({ nodes, updates }) => {
    const costly = new Set(updates.filter(({ needsDrain }) => needsDrain).map(({ from }) => from));
    return nodes.filter(({ isAffected, current }) => isAffected && costly.has(current ?? '') === isDisruptive);
  }).length;
}

function changeText(machines: number, pools: readonly PoolPlan[]): string {
  if (machines > 0) return `${count(machines, 'machine')} changed without a drain or reboot`;
  return pools.some(({ nodes }) => nodes.length > 0)
    ? 'something changes, but for no machine'
    : 'something changes; no machines are known here, and none would be drained or rebooted';
}

function disruptionText(disrupted: number, others: number): string {
  if (disrupted === 0) return 'machines of these pools would be drained or rebooted, but none are known';
  const more = others === 0 ? '' : `, ${others} changed without a drain or reboot`;
  return `${count(disrupted, 'machine')} drained or rebooted${more}`;
}

/** Which pods drains would evict, and what would block them. */
function drainLines({ nodes }: Pick<PoolPlan, 'nodes'>, verbose: boolean): string[] {
  const drained = nodes.filter(({ drain }) => drain !== null);
  if (drained.length === 0) return [];
  const machines = count(drained.length, 'machine');
  const lists = drained.map(({ drain }) => drain?.evicted ?? null);
  if (lists.includes(null)) return [`  Drains: ${machines}; the pods to evict are unknown`];
  const pods = lists.reduce((sum, list) => sum + (list?.length ?? 0), 0);
  return [
    `  Drains: ${machines}; ${count(pods, 'pod')} evicted`,
    ...(verbose ? drained.flatMap(podLines) : []),
    ...budgetLines(drained, verbose),
  ];
}

function podLines({ name, drain }: NodePlan): string[] {
  const evicted = drain?.evicted ?? [];
  return evicted.length === 0 ? [] : [`    ${name}: ${evicted.join(', ')}`];
}

interface Obstacle {
  readonly budget: string;
  readonly allowed: number;
  /** Each machine with its number of pods. */
  readonly where: readonly string[];
}

const SHOWN_BUDGETS = 5;

/** Grouped by budget, because one at its limit blocks every machine with one of its pods. The strictest come first. */
function budgetLines(drained: readonly NodePlan[], verbose: boolean): string[] {
  const blocked = drained.flatMap(({ name, drain }) => (drain?.blockedBy ?? []).map((by) => ({ name, by })));
  const obstacles = [...Map.groupBy(blocked, ({ by }) => by.budget)].map(([budget, places]): Obstacle => {
    const where = places.map(({ name, by }) => `${name} (${count(by.pods.length, 'pod')})`);
    return { budget, allowed: places[0]?.by.allowed ?? 0, where };
  });
  const sorted = obstacles.sort((a, b) => a.allowed - b.allowed || b.where.length - a.where.length);
  const shown = verbose ? sorted : sorted.slice(0, SHOWN_BUDGETS);
  const more = sorted.length - shown.length;
  return [
    ...shown.map((obstacle) => obstacleText(obstacle, verbose)),
    ...(more > 0 ? [`    and ${count(more, 'budget')} more (-v shows them)`] : []),
  ];
}

function obstacleText({ budget, allowed, where }: Obstacle, verbose: boolean): string {
  const meaning =
    allowed === 0
      ? 'allows no evictions now: drains wait until it does'
      : `allows ${count(allowed, 'eviction')} now: the other pods wait for replacements`;
  return `    PodDisruptionBudget ${budget} ${meaning}; ${nameList(where, verbose)}`;
}
