import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync, Visitor } from 'rolldown/utils';

export interface FunctionLength {
  /** `path:line`. */
  readonly place: string;
  readonly lines: number;
}

/**
 * The lines of every function without those of nested functions, which count separately. A `createQueue` that returns
 * an object of small functions is as long as a class, and need not be read in one go; the linter's rule
 * (max-lines-per-function) cannot distinguish the two.
 */
export function measureFunctions(path: string, text: string): FunctionLength[] {
  const lineAt = findLines(text);
  const found: { place: string; lines: number }[] = [];
  const open: { place: string; lines: number }[] = [];
  const enter = ({ start, end }: { start: number; end: number }): void => {
    const lines = lineAt(end) - lineAt(start) + 1;
    const outer = open.at(-1);
    // Its first and last line belong to the outer function too: the call and the closing brace.
    if (outer !== undefined) outer.lines -= Math.max(0, lines - 2);
    const inner = { place: `${path}:${lineAt(start)}`, lines };
    found.push(inner);
    open.push(inner);
  };
  const leave = (): void => void open.pop();
  new Visitor({
    FunctionDeclaration: enter,
    'FunctionDeclaration:exit': leave,
    FunctionExpression: enter,
    'FunctionExpression:exit': leave,
    ArrowFunctionExpression: enter,
    'ArrowFunctionExpression:exit': leave,
  }).visit(parseSync(path, text).program);
  return found;
}

/** Line numbers by position, without counting from the start each time. */
export function findLines(text: string): (position: number) => number {
  const starts = [0, ...Array.from(text.matchAll(/\n/g), ({ index }) => index + 1)];
  return (position) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= position) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}

/** The longest functions of everything but tests, longest first. */
export function listLongFunctions(root: string): FunctionLength[] {
  return globSync('{packages/*,tools,e2e,bench}/**/*.ts', {
    cwd: root,
    exclude: ['**/node_modules/**', '**/*.test.ts'],
  })
    .flatMap((path) => measureFunctions(path, readFileSync(join(root, path), 'utf8')))
    .toSorted((a, b) => b.lines - a.lines)
    .slice(0, 10);
}
