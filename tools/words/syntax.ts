import { parseSync } from 'rolldown/utils';

export type SyntaxNode = Record<string, unknown>;

export interface Comment {
  readonly start: number;
  readonly end: number;
}

export interface ParsedSource {
  readonly program: unknown;
  readonly comments: readonly Comment[];
}

export function parseSource(path: string, source: string): ParsedSource {
  const { program, comments, errors } = parseSync(path, source);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${path} cannot be parsed: ${error.message}`);
  return { program, comments };
}

export function visitNodes(value: unknown, onNode: (node: SyntaxNode) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) visitNodes(item, onNode);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const node = value as SyntaxNode;
  onNode(node);
  for (const child of Object.values(node)) visitNodes(child, onNode);
}
