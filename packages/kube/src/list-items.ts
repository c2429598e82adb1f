import { KubeError } from './errors.ts';
import { isText } from './resource.ts';
import type { KubeObject, Stored } from './resource.ts';

/** An object of 1.5 MiB (etcd's limit) with every byte escaped, and room to spare. */
const longestItem = 16 * 1024 * 1024;
const longestHead = 256 * 1024;
/** An item this long without a separator behind it is looked at brace by brace. */
const patience = 1024 * 1024;

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const closeBracket = 0x5d;
const comma = 0x2c;
const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

export interface ListItemsReader<T extends KubeObject> {
  /** Takes the next bytes and gives the items that are complete with them. */
  push(chunk: Buffer): Stored<T>[];
  /** All bytes are in: the last items, and the list's own metadata. */
  finish(): { items: Stored<T>[]; resourceVersion: string; continueToken: string };
}

/** Where the object that begins at `start` ends (the index behind its brace); -1 where its end has not come yet. */
export function endOfObject(data: Buffer, start: number): number {
  let depth = 0;
  let inString = false;
  for (let i = start; i < data.length; i += 1) {
    const byte = data[i];
    if (inString) {
      if (byte === backslash) i += 1;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === openBrace) depth += 1;
    else if (byte === closeBrace && --depth === 0) return i + 1;
  }
  return -1;
}

/**
 * Reads a Kubernetes list as it arrives, item by item: a list of 10,000 Nodes is 130 MB, and parsing it in one piece
 * stops the process for a second and holds all of it in memory.
 *
 * Items are found by what stands between two of them (`},{"metadata":`), which Buffer.indexOf finds ten times faster
 * than a loop over the bytes. The same bytes may stand inside an item, but then what is before them is no JSON: the
 * parser says so, and the braces are counted for that item.
 */
export function createListItemsReader<T extends KubeObject>(what: string): ListItemsReader<T> {
  /** Everything before the first item; undefined until it is all there. */
  let head: string | undefined;
  let rest: Buffer = Buffer.alloc(0);
  let separator: Buffer | undefined;
  let done = false;

  const bad = (why: string, cause?: unknown): KubeError =>
    new KubeError('SLW_KUBE_BAD_ANSWER', `${what}: ${why}`, { cause });

  /** Nothing before the items can hold the bytes looked for: it is kind, apiVersion and the list's metadata. */
  function readHead(): boolean {
    const text = rest.toString('latin1', 0, longestHead);
    const start = /"items":\s*\[/.exec(text);
    if (start === null) {
      if (rest.length > longestHead) throw bad('the answer is not a list');
      return false;
    }
    head = text.slice(0, start.index + start[0].length);
    rest = rest.subarray(head.length);
    return true;
  }

  /** `},` and the first key of the first item. */
  function separatorAt(start: number): Buffer | undefined {
    if (separator !== undefined) return separator;
    const colon = rest.indexOf(':', start);
    if (colon === -1) return undefined;
    separator = Buffer.concat([Buffer.from('},'), rest.subarray(start, colon + 1)]);
    return separator;
  }

  function parse(start: number, end: number): Stored<T> | undefined {
    try {
      return JSON.parse(rest.toString('utf8', start, end)) as Stored<T>;
    } catch {
      return undefined;
    }
  }

  function itemByBraces(start: number): { item: Stored<T>; end: number } | undefined {
    const end = endOfObject(rest, start);
    if (end === -1) {
      if (rest.length - start > longestItem) throw bad(`an item is longer than ${longestItem} bytes`);
      return undefined;
    }
    const item = parse(start, end);
    if (item === undefined) throw bad('an item is not JSON');
    return { item, end };
  }

  function itemAt(start: number, last: boolean): { item: Stored<T>; end: number } | undefined {
    const between = separatorAt(start);
    const found = between === undefined ? -1 : rest.indexOf(between, start);
    if (found === -1) return last || rest.length - start > patience ? itemByBraces(start) : undefined;
    const item = parse(start, found + 1);
    return item === undefined ? itemByBraces(start) : { item, end: found + 1 };
  }

  function readItems(last: boolean): Stored<T>[] {
    const items: Stored<T>[] = [];
    let at = 0;
    while (!done && at < rest.length) {
      const byte = rest[at];
      if (byte === closeBracket) done = true;
      else if (byte === comma || isBlank(byte)) at += 1;
      else if (byte !== openBrace) throw bad('an item is not an object');
      else {
        const next = itemAt(at, last);
        if (next === undefined) break;
        items.push(next.item);
        at = next.end;
      }
    }
    rest = rest.subarray(at);
    if (done && rest.length > longestHead) throw bad('what follows the items is too long');
    return items;
  }

  return {
    push(chunk) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      if (head === undefined && !readHead()) return [];
      return readItems(false);
    },
    finish() {
      const items = head === undefined ? [] : readItems(true);
      return { items, ...envelope(`${head ?? ''}${rest.toString('utf8')}`, bad) };
    },
  };
}

interface Envelope {
  items?: unknown;
  metadata?: { resourceVersion?: unknown; continue?: unknown };
}

/**
 * The list without its items. An empty list may come as `"items":null`: then all of it is head. Anything else that is
 * taken for an empty list would be read as "everything was deleted".
 */
function envelope(
  text: string,
  bad: (why: string, cause?: unknown) => KubeError,
): { resourceVersion: string; continueToken: string } {
  const { items, metadata } = decode(text, bad);
  const { resourceVersion, continue: token = '' } = metadata ?? {};
  const empty = items === null || (Array.isArray(items) && items.length === 0);
  if (!empty || !isText(resourceVersion) || typeof token !== 'string') throw bad('the answer is not a list');
  return { resourceVersion, continueToken: token };
}

function decode(text: string, bad: (why: string, cause?: unknown) => KubeError): Envelope {
  try {
    return (JSON.parse(text) as Envelope | null) ?? {};
  } catch (cause) {
    throw bad('the list ended in the middle', cause);
  }
}
