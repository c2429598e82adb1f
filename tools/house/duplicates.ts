import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

export interface Duplicate {
  readonly lines: number;
  /** `path:line` of both places. */
  readonly places: readonly [string, string];
}

/**
 * These settings define the figure, so they must not change: otherwise figures of two checkouts cannot be compared.
 * Fewer than 25 tokens in eight lines are a comment, a list of names or the end of a table. Import lists may be alike.
 */
const FLAGS = [
  '--min-lines=8',
  '--min-tokens=25',
  '--mode=weak',
  '--ignore-pattern=import[^;]*;',
  '--format=typescript',
];

/** Copies of 8 lines or more among these files, by jscpd: pairs of places, as it counts them. */
export function findDuplicates(root: string, paths: readonly string[], jscpd: string): Duplicate[] {
  const directory = mkdtempSync(join(tmpdir(), 'slipway-duplicates-'));
  try {
    const output = ['--absolute', '--reporters=json', `--output=${directory}`, '--silent', '--no-tips'];
    // Listed one by one: its patterns match the whole path, so a checkout below a `testing/` would be empty.
    execFileSync(jscpd, [...FLAGS, ...output, ...paths], { cwd: root });
    return parseReport(JSON.parse(readFileSync(join(directory, 'jscpd-report.json'), 'utf8')), root);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

interface Report {
  readonly duplicates: readonly { lines: number; firstFile: CodeLocation; secondFile: CodeLocation }[];
}

interface CodeLocation {
  readonly name: string;
  readonly start: number;
}

export function parseReport({ duplicates }: Report, root: string): Duplicate[] {
  const formatLocation = ({ name, start }: CodeLocation): string => `${relative(root, name)}:${start}`;
  return duplicates.map(({ lines, firstFile, secondFile }) => ({
    lines,
    places: [formatLocation(firstFile), formatLocation(secondFile)],
  }));
}
