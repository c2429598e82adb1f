// Finds the lines of fields in the text of a manifest. It parses the text again, with positions, so use it only for
// problems.
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node } from 'yaml';
import { parseYaml } from './yaml.ts';

/** Finding a line in a larger text takes seconds: dumps of clusters have no lines that a user wrote. */
export const MAX_CHARACTERS_WITH_LINES = 4 * 1024 * 1024;

interface Parsed {
  readonly text: string;
  readonly documents: readonly Document[] | null;
  readonly lines: LineCounter;
}

/** The problems of a file are reported together, so keeping one file is enough. */
let latest: Parsed | undefined;

/**
 * The line of a field such as `spec.config.storage.files[3].mode`, counted from 1. For a field that is not there: the
 * line of the closest parent. Null if the text has no such document.
 */
export function findLine(text: string, document: number, field: string): number | null {
  const { documents, lines } = (latest = latest?.text === text ? latest : parseWithLines(text));
  const found = documents?.[document];
  if (found === undefined || found.contents === null) return null;
  return lines.linePos(findOffset(found, found.contents, parsePath(field))).line;
}

function parseWithLines(text: string): Parsed {
  const lines = new LineCounter();
  return { text, documents: parseYaml(text, lines), lines };
}

function findOffset(document: Document, contents: Node, path: readonly string[]): number {
  let [node, offset]: [Node | null, number] = [contents, startOf(contents) ?? 0];
  for (const segment of path) {
    const next = findMember(document, node, segment);
    if (next === null) break;
    offset = startOf(next.named) ?? offset;
    node = next.value;
  }
  return offset;
}

interface Member {
  /** What a user sees as the place: the key, or the entry of a list. */
  readonly named: Node | null;
  readonly value: Node | null;
}

function findMember(document: Document, node: Node | null, segment: string): Member | null {
  const collection = isAlias(node) ? (node.resolve(document) ?? null) : node;
  if (isMap<Node, Node | null>(collection)) {
    const pair = collection.items.find(({ key }) => isScalar(key) && String(key.value) === segment);
    return pair === undefined ? null : { named: pair.key, value: pair.value };
  }
  if (!isSeq<Node>(collection)) return null;
  const item = collection.items[Number(segment)];
  return item === undefined ? null : { named: item, value: item };
}

const startOf = (node: Node | null): number | undefined => node?.range?.[0];

/** The names and positions in `a.b[0]["c.d"]`. */
function parsePath(field: string): string[] {
  return [...field.matchAll(/\[("(?:[^"\\]|\\.)*")\]|\[(\d+)\]|([^.[\]]+)/g)].map(
    ([, quoted, index, name]) => (quoted === undefined ? (index ?? name) : unquote(quoted)) ?? '',
  );
}

function unquote(text: string): string {
  const value: unknown = JSON.parse(text);
  return String(value);
}
