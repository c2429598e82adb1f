// The commands of a page with the output that the page shows, and whether a real output is that one.

export interface TourStep {
  readonly command: string;
  /** A line of `…` stands for any number of lines. */
  readonly output: readonly string[];
}

/** From the fenced blocks of one section, in which commands start with `$ `. */
export function readTour(page: string, section: string): TourStep[] {
  const start = page.indexOf(`\n## ${section}\n`);
  if (start === -1) throw new Error(`the page has no section "${section}"`);
  const end = page.indexOf('\n## ', start + 1);
  const text = page.slice(start, end === -1 ? undefined : end);
  return [...text.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].flatMap(([, language, block = '']) =>
    language === '' ? readBlock(block) : [],
  );
}

function readBlock(block: string): TourStep[] {
  return block
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...output] = part.trimEnd().split('\n');
      return { command, output };
    });
}

const VARYING: readonly (readonly [RegExp, string])[] = [
  [/\brendered-([a-z]+)-[0-9a-f]{8}([0-9a-f]{24}|…)/g, 'rendered-$1-NAME'],
  [/\d{4}-\d\d-\d\dT[0-9:.]+Z/g, 'TIME'],
  [/\b\d+(\.\d+)? (s|min|h)\b/g, 'DURATION'],
  [/127\.0\.0\.1:\d+/g, 'ADDRESS'],
  [/\/\S+\.kubeconfig/g, 'KUBECONFIG'],
];

/** Names of configs, times, addresses and paths differ from run to run. */
const normalize = (line: string): string =>
  VARYING.reduce((text, [pattern, name]) => text.replaceAll(pattern, name), line.trimEnd());

export function isSameOutput(expected: readonly string[], output: string): boolean {
  return matchLines(expected.map(normalize), output.trimEnd().split('\n').map(normalize));
}

function matchLines(expected: readonly string[], lines: readonly string[]): boolean {
  const [first, ...rest] = expected;
  if (first === undefined) return lines.every((line) => line === '');
  if (first !== '…') return lines[0] === first && matchLines(rest, lines.slice(1));
  return lines.some((_, index) => matchLines(rest, lines.slice(index))) || matchLines(rest, []);
}
