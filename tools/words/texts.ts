// The prose of a file, by line: of a source its comments and the strings with a blank in them, of a page or manifest all but
// code in the middle of a line.
import { parseSource, visitNodes } from './syntax.ts';

export interface ProseLine {
  readonly line: number;
  readonly text: string;
}

export function readProse(path: string, source: string): ProseLine[] {
  if (path.endsWith('.ts')) return readSource(path, source);
  return source.split('\n').map((text, index) => ({ line: index + 1, text: text.replaceAll(/`[^`]*`/g, '`…`') }));
}

function readSource(path: string, source: string): ProseLine[] {
  const { program, comments } = parseSource(path, source);
  const spans = [...comments, ...findStrings(program)];
  const lineStarts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const lineAt = (offset: number): number => lineStarts.findLastIndex((start) => start <= offset) + 1;
  return spans.flatMap(({ start, end }) =>
    source
      .slice(start, end)
      .split('\n')
      .map((text, index) => ({ line: lineAt(start) + index, text: text.replaceAll(/`[^`]*`/g, '`…`') })),
  );
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** With a blank: anything else is a name, a code or a path. */
function findStrings(program: unknown): Span[] {
  const spans: Span[] = [];
  visitNodes(program, (node) => {
    const isText =
      (node['type'] === 'Literal' && typeof node['value'] === 'string' && node['value'].trim().includes(' ')) ||
      node['type'] === 'TemplateElement';
    if (isText && typeof node['start'] === 'number' && typeof node['end'] === 'number') {
      spans.push({ start: node['start'], end: node['end'] });
    }
  });
  return spans;
}
