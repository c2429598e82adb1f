// What has changed between two looks at pinned images, a line each: for a pipe or a log.
import type { NodePins } from '@slipway/fleet';
import type { PinReport, PoolPins } from '@slipway/fleet/reports';
import { counted, safeLine, shortImages } from '../cli/terminal.ts';
import { amountsLine, whyOf } from './pin-text.ts';

/** Without the first look, everything is news. */
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

/** Sums of many machines change with each of them: those have lines of their own. */
function poolLine({ name, sets, machines }: PoolPins): string {
  if (sets.length === 0) return '';
  const { pinned, degraded, total } = machines;
  const held = sets.map((set) => `${set.name} on ${set.nodes.done} of ${set.nodes.total}`).join(', ');
  const bad = degraded === 0 ? '' : `, ${degraded} degraded`;
  return `${name}: ${pinned} of ${counted(total, 'machine')} pinned${bad}: ${held}`;
}

function nodeLine(pool: string, old: NodePins | undefined, now: NodePins): string[] {
  const words = nodeWords(now);
  if (old !== undefined && nodeWords(old) === words) return [];
  const from = old === undefined || old.phase === now.phase ? '' : `${old.phase} → `;
  return [`${pool}/${now.name}: ${from}${words}`];
}

function nodeWords(node: NodePins): string {
  const why = whyOf(node);
  return `${node.phase}: ${amountsLine(node)}${why === '' ? '' : `: ${why}`}`;
}
