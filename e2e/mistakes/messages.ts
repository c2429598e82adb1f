// messages.txt: every mistake with its line, the verdicts and the exact messages, as a document to read.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Group, groups, lineOf, type Mistake } from './cases.ts';
import type { Command, Verdict, Verdicts } from './judge.ts';

/** Written by mistakes.e2e.test.ts: what the API server answers to each case. */
const SERVER_FILE = join(import.meta.dirname, 'server.txt');

export type ServerVerdict = 'accepts' | 'refuses';

/** By id of the case. */
export function readServerVerdicts(): ReadonlyMap<string, ServerVerdict> {
  const lines = readFileSync(SERVER_FILE, 'utf8').trimEnd().split('\n');
  return new Map(
    lines.map((line) => {
      const [id = '', verdict = ''] = line.split(': ', 2);
      return [id, verdict.startsWith('accepts') ? 'accepts' : 'refuses'];
    }),
  );
}

export interface Judged {
  readonly commands: Verdicts;
  readonly server: ServerVerdict | undefined;
}

const HEADER = `Mistakes in manifests, and what people read about them.
Written by: npm test -- e2e/mistakes -u
A line that starts with > is from slipway validate; > COMMAND: is another command that says something else.
`;

export const formatMessages = (judged: ReadonlyMap<string, Judged>): string =>
  [HEADER, ...groups.map((group) => formatGroup(group, judged))].join('\n');

function formatGroup({ title, cases, differs }: Group, judged: ReadonlyMap<string, Judged>): string {
  const reasons = Object.entries(differs ?? {}).map(([judge, reason]) => `(${judge}: ${reason})\n`);
  const texts = cases.flatMap((mistake) => {
    const verdicts = judged.get(mistake.id);
    return verdicts === undefined ? [] : [formatCase(mistake, verdicts)];
  });
  return [`\n${title}\n${'='.repeat(title.length)}\n`, ...reasons, ...texts].join('\n');
}

function formatCase(mistake: Mistake, { commands, server }: Judged): string {
  const line = JSON.stringify(lineOf(mistake).trim()).slice(1, -1).replaceAll('\\"', '"');
  const reasons = [
    ...Object.entries(mistake.differs ?? {}).map(([judge, reason]) => `  (${judge}: ${reason})`),
    ...(mistake.accepted === undefined ? [] : [`  (no finding: ${mistake.accepted})`]),
  ];
  return [
    `${mistake.id}${line === '' ? '' : `    ${line.slice(0, 100)}`}`,
    ...formatFindings(commands),
    ...(server === undefined ? [] : [`  API server: ${server}`]),
    ...reasons,
    '',
  ].join('\n');
}

/** The lines of `validate`, then those of other commands that are not among them. */
function formatFindings(commands: Verdicts): string[] {
  const known = new Set<string>();
  const lines: string[] = [];
  for (const [command, verdict] of commands) {
    const texts = describe(command, verdict);
    const fresh = texts.filter((text) => !known.has(bare(text)));
    for (const text of texts) known.add(bare(text));
    const prefix = command === 'validate' ? '  > ' : `  > ${command}: `;
    lines.push(...fresh.map((text) => `${prefix}${text}`));
  }
  return lines;
}

const describe = (command: Command, { ok, lines }: Verdict): readonly string[] =>
  command === 'validate' && ok && lines.length === 0 ? ['valid'] : lines;

/** Without what only one command prints around a message. */
const bare = (text: string): string =>
  text
    .replace(/^slipway( ignition)?: /, '')
    .replace(/^[\w.-]+\.(yaml|json)(:\d+|, line \d+)?(, (document|item) \d+)*( \(MachineConfig [^)]*\))?: /, '')
    .replace(/^(warning|error): /, '')
    // A rendering prints its warnings without the code.
    .replace(/ \[SLW_[A-Z_]+\]$/, '')
    // A plan names each pool that the MachineConfig is for.
    .replace(/^MachineConfigPool [\w-]+: /, '');

// What no message may contain, and why.
const FORBIDDEN: readonly (readonly [RegExp, string])[] = [
  [/\b(?!SLW_)[A-Z]{2,}_[A-Z_]{2,}\b/, 'a code of a library'],
  [/\^\(|\[a-z|\\d|\\\.|\)\$/, 'a regular expression'],
  [/\b(position|character|column) \d|\bat \d+ /, 'a position of a byte'],
  [/\bundefined\b|\[object|\bNaN\b/, 'a value of the program'],
  [/\/tmp\/|node_modules|\.ts\b|\bat .*:\d+:\d+/, 'an internal path'],
  [/hunter2|PRIVATE KEY/, 'a secret'],
  [/unexpected: /, 'a bug'],
];

const MAX_CHARACTERS = 400;

/** Says what a field must be, or what to do. */
const ADVICE =
  /\b(must|expected?|needs?|required|missing|match|closed|write|use|start|end|encode|remove|leave|omit|set|add|keep|correct|put|run|create|choose|allow|name|move|change|check|compress|convert|unpack|translate|render|resolve|split|belongs?|did you mean|only|may|one of|instead)\b/i;

/** What is wrong with the words of a line that a command printed. */
export function findFaults(line: string, isError: boolean): string[] {
  const faults = FORBIDDEN.flatMap(([pattern, what]) => (pattern.test(line) ? [what] : []));
  if (line.length > MAX_CHARACTERS) faults.push(`${line.length} characters`);
  if (isError && !ADVICE.test(line)) faults.push('no advice');
  return faults;
}

export const codeOf = (line: string): string | undefined => / \[(SLW_[A-Z_]+)\]$/.exec(line)?.[1];
