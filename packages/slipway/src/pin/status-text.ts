// The progress of pinned images as human-readable text.
import { count, oneLine } from '@slipway/base/text';
import type { Amount, NodePins, PinPhase } from '@slipway/fleet';
import type { PinReport, PoolPins, SetPins } from '@slipway/fleet/reports';
import {
  byteSize,
  type Cell,
  type Colour,
  durationText,
  type Paint,
  plain,
  progressBar,
  safeLine,
  safeText,
  shortImages,
  table,
  type TextStyle,
  wrapText,
} from '../cli/terminal.ts';

export interface PinTextOptions extends Partial<TextStyle> {
  /** One line for every node, even in large pools. */
  readonly allNodes?: boolean;
}

/** A larger pool shows only the machines that are not done. */
const MANY_NODES = 20;

/** More rows than this would not fit on a screen. */
const MAX_ROWS = 50;

/** Part of `-o json`, so the table shows the same word. */
const NOT_STARTED = 'not begun' satisfies PinPhase;

const COLOURS: Readonly<Record<PinPhase, Colour>> = {
  pinned: 'green',
  pulling: 'cyan',
  waiting: 'yellow',
  degraded: 'red',
  [NOT_STARTED]: 'dim',
};

/** Machines that need attention come first. */
const ORDER: readonly PinPhase[] = ['degraded', 'pulling', 'waiting', NOT_STARTED, 'pinned'];

export function pinText(
  { gate, pools }: PinReport,
  { paint = plain, allNodes = false, width }: PinTextOptions = {},
): string {
  const off =
    gate?.isOn === false
      ? [
          `${paint('yellow', 'No images are pinned')}: the feature gate PinnedImages is off (${safeText(gate.because)})\n`,
        ]
      : [];
  const used = pools.filter(({ sets, problems }) => sets.length > 0 || problems.length > 0);
  const none =
    used.length === 0
      ? [
          `${pools.length === 1 ? `Pool ${pools[0]?.name} has no images to pin` : 'No pool has images to pin'}. For an upgrade, create the sets with: slipway pin release RELEASE_IMAGE --pool POOL\n`,
        ]
      : [];
  return [...off, ...none, ...used.map((pool) => poolText(pool, { paint, allNodes, width }))].join('\n');
}

function poolText(
  pool: PoolPins,
  { paint, allNodes, width }: { paint: Paint; allNodes: boolean; width: number | undefined },
): string {
  const { machines } = pool;
  const phase = poolPhase(pool);
  const lines = [
    `${progressBar(done(pool).done, done(pool).total)} ${amountsLine(pool)}`,
    countsLine(machines),
    ...(pool.maxPulling === null ? [] : [`at most ${pool.maxPulling} machines pull concurrently`]),
    ...pool.problems,
  ];
  const body = lines
    .flatMap((line) => wrapText(safeLine(line), width === undefined ? undefined : width - 2))
    .map((line) => `  ${line}\n`);
  return [
    `${paint('bold', pool.name)}: ${paint(COLOURS[phase], phase)}  ${count(pool.sets.length, 'set')}, ${count(machines.total, 'machine')}\n`,
    ...body,
    ...(pool.sets.length === 0 ? [] : ['\n', indented(setTable(pool.sets, paint))]),
    ...nodesText(pool.nodes, paint, allNodes),
  ].join('');
}

/** The worst phase of its machines. */
function poolPhase({ nodes }: PoolPins): PinPhase {
  return ORDER.find((phase) => nodes.some((node) => node.phase === phase)) ?? NOT_STARTED;
}

/** Bytes measure progress best; images are the fallback if sizes are unknown. */
const done = ({ bytes, images }: Pick<PoolPins, 'bytes' | 'images'>): Amount => bytes ?? images;

/** `240 of 600 images, 10.1 GB of 48.3 GB, 120.0 MB/s, about 6 min left` */
function amountsLine(pool: Pick<PoolPins, 'images' | 'bytes' | 'bytesPerSecond' | 'secondsLeft'>): string {
  const { images, bytes, bytesPerSecond, secondsLeft } = pool;
  return [
    `${images.done} of ${images.total} images`,
    ...(bytes === null ? [] : [amountText(bytes)]),
    ...(bytesPerSecond === null ? [] : [`${byteSize(bytesPerSecond)}/s`]),
    ...(secondsLeft === null ? [] : [`about ${durationText(secondsLeft)} left`]),
  ].join(', ');
}

const amountText = (bytes: Amount | null): string =>
  bytes === null ? '-' : `${byteSize(bytes.done)} of ${byteSize(bytes.total)}`;

function countsLine({ pinned, pulling, waiting, degraded, notBegun, total }: PoolPins['machines']): string {
  return [
    `${pinned} of ${count(total, 'machine')} pinned`,
    ...(pulling > 0 ? [`${pulling} pulling`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
    ...(degraded > 0 ? [`${degraded} degraded`] : []),
    ...(notBegun > 0 ? [`${notBegun} not started`] : []),
  ].join(', ');
}

function setTable(sets: readonly SetPins[], paint: Paint): string {
  const rows = sets.map(({ name, images, nodes, bytes }): Cell[] => [
    name,
    String(images),
    `${progressBar(nodes.done, nodes.total)} ${nodes.done} of ${nodes.total}`,
    amountText(bytes),
  ]);
  return table(['SET', 'IMAGES', 'MACHINES', 'BYTES OF ALL MACHINES'], rows, paint);
}

function nodesText(nodes: readonly NodePins[], paint: Paint, allNodes: boolean): string[] {
  if (nodes.length === 0) return [];
  const isMany = !allNodes && nodes.length > MANY_NODES;
  const listed = isMany ? nodes.filter(({ phase }) => phase !== 'pinned').sort(byNeed) : nodes;
  const shown = isMany ? listed.slice(0, MAX_ROWS) : listed;
  const more = listed.length - shown.length;
  return [
    ...(shown.length === 0 ? [] : ['\n', indented(nodeTable(shown, paint))]),
    ...(more > 0 ? [`  … and ${more} more; --all-nodes shows every node\n`] : []),
  ];
}

const byNeed = (a: NodePins, b: NodePins): number => ORDER.indexOf(a.phase) - ORDER.indexOf(b.phase);

function nodeTable(nodes: readonly NodePins[], paint: Paint): string {
  const rows = nodes.map((node): Cell[] => [
    node.name,
    { text: node.phase, colour: COLOURS[node.phase] },
    progressBar(done(node).done, done(node).total),
    `${node.images.done} of ${node.images.total}`,
    amountText(node.bytes),
    node.bytesPerSecond === null ? '-' : `${byteSize(node.bytesPerSecond)}/s`,
    node.secondsLeft === null ? '-' : durationText(node.secondsLeft),
    shortImages(formatReason(node)),
  ]);
  return table(['NODE', 'STATE', 'PROGRESS', 'IMAGES', 'BYTES', 'RATE', 'LEFT', 'WHY'], rows, paint);
}

/** What a user needs to know in addition to the progress. */
function formatReason({ waitsFor, lastError, phase }: NodePins): string {
  if (phase === 'pinned') return '';
  const reason = phase === 'degraded' || waitsFor === '' ? lastError : `waits for ${waitsFor}`;
  return oneLine(reason);
}

const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');

/** One line per change between two reports, for a pipe or a log. Without `before`, everything is new. */
export function pinChanges(before: PinReport | null, after: PinReport): string[] {
  const olds = new Map(before?.pools.map((pool) => [pool.name, pool]));
  return after.pools.flatMap((pool) => poolLines(olds.get(pool.name), pool)).map((line) => shortImages(safeLine(line)));
}

function poolLines(old: PoolPins | undefined, now: PoolPins): string[] {
  const nodes = new Map(old?.nodes.map((node) => [node.name, node]));
  const known = new Set(old?.problems);
  return [
    ...(old !== undefined && poolLine(old) === poolLine(now) ? [] : [poolLine(now)].filter((line) => line !== '')),
    ...now.problems.filter((problem) => !known.has(problem)).map((problem) => `${now.name}: ${problem}`),
    ...now.nodes.flatMap((node) => nodeLine(now.name, nodes.get(node.name), node)),
  ];
}

/** Without byte sums, which change with every machine; machines have separate lines. */
function poolLine({ name, sets, machines }: PoolPins): string {
  if (sets.length === 0) return '';
  const { pinned, degraded, total } = machines;
  const held = sets.map((set) => `${set.name} on ${set.nodes.done} of ${set.nodes.total}`).join(', ');
  const bad = degraded === 0 ? '' : `, ${degraded} degraded`;
  return `${name}: ${pinned} of ${count(total, 'machine')} pinned${bad}: ${held}`;
}

function nodeLine(pool: string, old: NodePins | undefined, now: NodePins): string[] {
  const words = formatNodeState(now);
  if (old !== undefined && formatNodeState(old) === words) return [];
  const from = old === undefined || old.phase === now.phase ? '' : `${old.phase} → `;
  return [`${pool}/${now.name}: ${from}${words}`];
}

function formatNodeState(node: NodePins): string {
  const why = formatReason(node);
  return `${node.phase}: ${amountsLine(node)}${why === '' ? '' : `: ${why}`}`;
}
