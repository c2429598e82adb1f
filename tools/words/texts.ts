// The prose of a file, by line: for sources the comments and the strings with a blank in them, for pages and manifests all but
// inline code.
import { parseSync, Visitor } from 'rolldown/utils';
import { findLines } from '../house/functions.ts';

export interface ProseLine {
  readonly line: number;
  readonly text: string;
}

export function readProse(path: string, source: string): ProseLine[] {
  if (!path.endsWith('.ts')) return splitLines(source, 1);
  const lineAt = findLines(source);
  return listSpans(path, source).flatMap(({ start, end }) => splitLines(source.slice(start, end), lineAt(start)));
}

function splitLines(text: string, first: number): ProseLine[] {
  return text.split('\n').map((line, at) => ({ line: first + at, text: line.replaceAll(/`[^`]*`/g, '`…`') }));
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function listSpans(path: string, source: string): Span[] {
  const { program, comments, errors } = parseSync(path, source);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path} cannot be parsed: ${error.message}`);
  const spans: Span[] = [...comments];
  new Visitor({
    // Without a blank it is a name, a code or a path.
    Literal: (node) => {
      if (typeof node.value === 'string' && node.value.trim().includes(' ')) spans.push(node);
    },
    TemplateElement: (node) => void spans.push(node),
  }).visit(program);
  return spans;
}
