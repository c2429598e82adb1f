// A plan to pin images as human-readable text.
import { count } from '@slipway/base/text';
import type { NodeFit } from '@slipway/fleet';
import {
  byteSize,
  type Cell,
  type Colour,
  nameList,
  type Paint,
  plain,
  safeLine,
  table,
  type TextStyle,
  wrapText,
} from '../cli/terminal.ts';
import type { PinPlan, PlannedSet } from './plan.ts';

/** A larger pool shows only the machines that need attention. */
const MANY_NODES = 20;

/** More rows than this would not fit on a screen. */
const MAX_ROWS = 50;

const COLOURS: Readonly<Record<NodeFit['verdict'], Colour>> = {
  fits: 'green',
  'may not fit': 'red',
  'not known': 'yellow',
};

export function pinPlanText(plan: PinPlan, { paint = plain, width }: Partial<TextStyle> = {}): string {
  const lines = [sourceLine(plan), sizeLine(plan), poolLine(plan), fitLine(plan), ...plan.notes];
  const sentences = lines.flatMap((line) => wrapText(safeLine(line), width)).map((line) => `${line}\n`);
  return [
    sentences.join(''),
    table(['SET', 'IMAGES', 'CHANGE'], plan.sets.map(setRow), paint),
    ...nodeTable(plan.nodes, paint),
  ].join('\n');
}

function sourceLine({ source, images }: PinPlan): string {
  if ('file' in source) return `${source.file}: ${count(images, 'image')}`;
  return `${source.release}: version ${source.version ?? 'unknown'}, ${count(images, 'image')}`;
}

function sizeLine({ bytes, diskBytes }: PinPlan): string {
  if (bytes === null || diskBytes === null) return 'Sizes are unknown, because no registry was queried (--no-sizes).';
  return `Each machine downloads at most ${byteSize(bytes)} and needs at most ${byteSize(diskBytes)} on its disk, less if it has some of the layers.`;
}

function poolLine({ pool, pools, nodes }: PinPlan): string {
  const others = pools.filter((name) => name !== pool);
  const machines = count(nodes.length, 'machine');
  if (others.length === 0) return `Pool ${pool}: ${machines}.`;
  return `Pool ${pool}, and ${others.join(', ')}, which the labels of the sets also match: ${machines} in total.`;
}

function fitLine({ nodes }: PinPlan): string {
  const having = (verdict: NodeFit['verdict']): string[] =>
    nodes.filter((each) => each.verdict === verdict).map(({ node }) => node);
  const [short, unknown] = [having('may not fit'), having('not known')];
  if (short.length > 0) {
    return `It may not fit on ${count(short.length, 'machine')}: ${nameList(short, false)}. A machine that lacks space, after counting the layers it has, pulls nothing and reports that. Free disk space there first.`;
  }
  if (unknown.length > 0) {
    return `It is unknown whether it fits on ${count(unknown.length, 'machine')}: ${nameList(unknown, false)}. Each machine checks before it pulls anything.`;
  }
  return nodes.length === 0 ? 'There are no machines to pull them yet.' : 'It fits on every machine.';
}

const setRow = ({ name, images, change, added, removed }: PlannedSet): Cell[] => {
  const words = { make: 'new', none: 'unchanged', change: `${added} more, ${removed} fewer` } as const;
  return [name, String(images.length), words[change]];
};

function nodeTable(nodes: readonly NodeFit[], paint: Paint): string[] {
  const listed = nodes.length <= MANY_NODES ? nodes : nodes.filter(({ verdict }) => verdict !== 'fits');
  if (listed.length === 0) return [];
  const shown = listed.slice(0, MAX_ROWS);
  const rows = shown.map(({ node, verdict, neededBytes, usableBytes }): Cell[] => [
    node,
    { text: verdict, colour: COLOURS[verdict] },
    neededBytes === null ? '-' : byteSize(neededBytes),
    usableBytes === null ? '-' : byteSize(usableBytes),
  ]);
  const more = listed.length - shown.length;
  return [
    table(['NODE', 'FITS', 'NEEDS AT MOST', 'USABLE'], rows, paint),
    ...(more > 0 ? [`… and ${count(more, 'more machine')}; -o json shows all\n`] : []),
  ];
}
