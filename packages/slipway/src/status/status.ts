// The state of a fleet's rollouts, once or live, as human-readable text or JSON.
import { decideFleet, formatProblem, type NodePhase } from '@slipway/fleet';
import { type NodeReport, type PoolReport, statusReport, type StatusReport } from '@slipway/fleet/reports';
import { checkPools, readFleet, watchFleet } from '../cli/cluster.ts';
import type { Io } from '../cli/io.ts';
import type { ClusterOptions } from '../cli/program.ts';
import { clusterCommand } from '../cli/run.ts';
import {
  type Cell,
  type Colour,
  durationText,
  type Paint,
  plain,
  progressBar,
  safeLine,
  safeText,
  shortConfig,
  shortConfigs,
  table,
  type TextStyle,
  wrapText,
} from '../cli/terminal.ts';

export interface StatusOptions extends ClusterOptions {
  watch?: boolean;
  allNodes?: boolean;
  output: 'table' | 'json';
}

export function runStatus(pools: readonly string[], options: StatusOptions, io: Io): Promise<void> {
  const { allNodes = false } = options;
  const only = pools.length === 0 ? null : new Set(pools);
  return clusterCommand({
    options,
    io,
    load: async (client) => checkPools(await readFleet(client), pools),
    report: (fleet) => statusReport(fleet, decideFleet(fleet, Date.now()), only),
    text: (report, style) => statusText(report, { ...style, allNodes }),
    live: { watch: watchFleet, changes: changeLines },
  });
}

export interface StatusTextOptions extends Partial<TextStyle> {
  /** One line for every node, even in large pools. */
  readonly allNodes?: boolean;
}

/** A larger pool shows only the machines that are updating or need attention. */
const MANY_NODES = 20;

/** More rows than this would not fit on a screen. */
const MAX_ROWS = 50;

const PHASE_COLOURS: Readonly<Record<NodePhase, Colour>> = {
  updated: 'green',
  updating: 'cyan',
  failed: 'red',
  drifted: 'yellow',
  next: 'cyan',
  waiting: 'dim',
  skipped: 'yellow',
};

const POOL_COLOURS: Readonly<Record<PoolReport['phase'], Colour>> = {
  updated: 'green',
  updating: 'cyan',
  paused: 'yellow',
  stopped: 'yellow',
  halted: 'red',
  nothing: 'dim',
};

export function statusText(report: StatusReport, options: StatusTextOptions = {}): string {
  const paint = options.paint ?? plain;
  const stop =
    report.stopped === null
      ? []
      : [
          `${paint('yellow', 'All rollouts are stopped')}: ${safeText(report.stopped)}. To continue: slipway resume --all\n`,
        ];
  const outside = report.nodesWithoutPool.map(
    ({ code, message }) => `${formatProblem({ code, message: safeText(message) })}\n`,
  );
  const none =
    report.pools.length === 0 ? ['The cluster has no pools. slipway controller creates master and worker\n'] : [];
  return [
    ...stop,
    ...none,
    ...report.pools.map((pool) => poolText(pool, { ...options, paint })),
    ...(outside.length === 0 ? [] : [outside.join('')]),
  ].join('\n');
}

function poolText(pool: PoolReport, options: StatusTextOptions & { readonly paint: Paint }): string {
  const { paint, allNodes = false, width } = options;
  const { machines } = pool;
  const counts = [
    `${machines.updated} of ${machines.total} updated`,
    `${machines.ready} ready`,
    `${machines.unavailable} unavailable (at most ${pool.maxUnavailable})`,
    `${machines.degraded} degraded`,
  ].join(', ');
  const lines = [
    `${progressBar(machines.updated, machines.total)} ${counts}`,
    ...progressLine(pool),
    ...(pool.hold === null
      ? []
      : [`held (${pool.hold.kind}): ${pool.hold.why}; the newest config is ${shortConfig(pool.newest)}`]),
    pool.summary,
    ...(pool.request === null ? [] : [`requested, not answered yet: ${pool.request}`]),
    ...pool.problems,
  ];
  const title = `${paint('bold', pool.name)}: ${paint(POOL_COLOURS[pool.phase], pool.phase)}  ${shortConfig(pool.target)}\n`;
  const body = lines
    .filter((line) => line !== '')
    .flatMap((line) => wrapText(shortConfigs(safeLine(line)), width === undefined ? undefined : width - 2))
    .map((line) => `  ${line}\n`);
  return [title, ...body, ...nodesText(pool, paint, allNodes)].join('');
}

function progressLine({ wave, secondsLeft, phase }: PoolReport): string[] {
  const parts = [
    ...(wave === null || wave.of === 1
      ? []
      : [`wave ${wave.number} of ${wave.of}, up to ${formatMachineCount(wave.size)}`]),
    ...(secondsLeft === null ? [] : [`about ${durationText(secondsLeft)} left`]),
  ];
  return phase === 'updated' || parts.length === 0 ? [] : [parts.join(', ')];
}

const formatMachineCount = (count: number): string => (count === 1 ? '1 machine' : `${count} machines`);

function nodesText({ nodes }: PoolReport, paint: Paint, allNodes: boolean): string[] {
  if (nodes.length === 0) return [];
  if (allNodes || nodes.length <= MANY_NODES) return ['\n', nodeTable(nodes, paint)];
  const special = nodes.filter(({ phase }) => phase !== 'updated' && phase !== 'waiting');
  const shown = special.slice(0, MAX_ROWS);
  const counts = `  nodes: ${phaseCounts(nodes)}\n`;
  const more = special.length - shown.length;
  return [
    counts,
    ...(shown.length === 0 ? [] : ['\n', nodeTable(shown, paint)]),
    ...(more > 0 ? [`  … and ${more} more; --all-nodes shows every node\n`] : []),
  ];
}

/** `3 updating, 40 waiting, 57 updated` */
function phaseCounts(nodes: readonly Pick<NodeReport, 'phase'>[]): string {
  const order: readonly NodePhase[] = ['failed', 'drifted', 'updating', 'next', 'skipped', 'waiting', 'updated'];
  return order
    .map((phase) => ({ phase, count: nodes.filter((node) => node.phase === phase).length }))
    .filter(({ count }) => count > 0)
    .map(({ phase, count }) => `${count} ${phase}`)
    .join(', ');
}

function nodeTable(nodes: readonly NodeReport[], paint: Paint): string {
  const rows = nodes.map((node): Cell[] => [
    node.name,
    { text: node.phase, colour: PHASE_COLOURS[node.phase] },
    node.step || '-',
    shortConfig(node.current),
    shortConfigs(formatReason(node)),
  ]);
  return table(['NODE', 'PHASE', 'STEP', 'CONFIG', 'WHY'], rows, paint).replaceAll(/^(?=.)/gm, '  ');
}

/** Adds what blocks the node, the most useful part for a user. */
function formatReason({ why, blockedBy, phase }: NodeReport): string {
  if (phase === 'updated') return '';
  return blockedBy === '' || why.includes(blockedBy) ? why : `${why} (${blockedBy})`;
}

/** One line per change between two reports, for a pipe or a log. Without `before`, everything is new. */
export function changeLines(before: StatusReport | null, after: StatusReport): string[] {
  return [
    ...stopLines(before?.stopped ?? null, after.stopped),
    ...changed(before?.pools ?? [], after.pools, poolLines, ({ name }) => [`${name}: deleted`]),
    ...changed(
      before?.nodesWithoutPool ?? [],
      after.nodesWithoutPool,
      (old, { message }) => (old?.message === message ? [] : [message]),
      () => [],
    ),
  ].map((line) => shortConfigs(safeLine(line)));
}

function stopLines(before: string | null, after: string | null): string[] {
  if (before === after) return [];
  return [after === null ? 'rollouts continue' : `all rollouts are stopped: ${after}`];
}

function changed<T extends { readonly name: string }>(
  before: readonly T[],
  after: readonly T[],
  linesOf: (old: T | undefined, now: T) => string[],
  gone: (old: T) => string[],
): string[] {
  const olds = new Map(before.map((each) => [each.name, each]));
  const lines = after.flatMap((now) => linesOf(olds.get(now.name), now));
  for (const { name } of after) olds.delete(name);
  return [...lines, ...[...olds.values()].flatMap(gone)];
}

function poolLines(old: PoolReport | undefined, now: PoolReport): string[] {
  const line = poolLine(now);
  return [
    ...(old === undefined || poolLine(old) !== line ? [line] : []),
    ...changed(
      old?.nodes ?? [],
      now.nodes,
      (before, node) => nodeLines(now.name, before, node),
      ({ name }) => [`${now.name}/${name}: left the pool`],
    ),
  ];
}

function poolLine({ name, phase, summary, request }: PoolReport): string {
  return `${name}: ${phase}${request === null ? '' : ` (requested: ${request})`}: ${summary}`;
}

function nodeLines(pool: string, old: NodeReport | undefined, now: NodeReport): string[] {
  const [before, after] = [old === undefined ? '' : formatNodeState(old), formatNodeState(now)];
  if (before === after || (old === undefined && now.phase === 'updated')) return [];
  const from = old === undefined || old.phase === now.phase ? '' : `${old.phase} → `;
  return [`${pool}/${now.name}: ${from}${after}`];
}

function formatNodeState({ phase, step, blockedBy, why }: NodeReport): string {
  const doing = step === '' ? phase : `${phase}, ${step}`;
  const isQuiet = phase === 'updated' || phase === 'waiting';
  const reason = isQuiet ? '' : blockedBy || why;
  return reason === '' ? doing : `${doing}: ${reason}`;
}
