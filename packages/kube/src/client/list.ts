import { parseJson } from '@slipway/base/json';
import { KubeError } from './errors.ts';
import {
  isStored,
  isText,
  type KubeObject,
  nameKind,
  buildApiPath,
  type Resource,
  resourceId,
  type Stored,
} from './resource.ts';
import type { Transport } from './transport.ts';

/** Selects objects, and how much of each to fetch. */
export interface Scope<T extends KubeObject> {
  resource: Resource<T>;
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  /** `metadata`: the server sends PartialObjectMetadata, a tenth of the bytes of a Node. */
  as?: 'full' | 'metadata' | undefined;
}

export function toSelectorQuery(scope: Scope<KubeObject>): Record<string, string> {
  return {
    ...(scope.labelSelector === undefined ? {} : { labelSelector: scope.labelSelector }),
    ...(scope.fieldSelector === undefined ? {} : { fieldSelector: scope.fieldSelector }),
  };
}

export function buildAcceptHeader(scope: Scope<KubeObject>, call: 'list' | 'watch'): string {
  if (scope.as !== 'metadata') return 'application/json';
  return `application/json;as=PartialObjectMetadata${call === 'list' ? 'List' : ''};g=meta.k8s.io;v=v1`;
}

/** Whether an object is in the scope. Supports the selectors this project uses; any other selector matches nothing. */
export function isInScope(scope: Scope<KubeObject>, { metadata }: KubeObject): boolean {
  const { namespace, labelSelector, fieldSelector } = scope;
  if (namespace !== undefined && metadata.namespace !== namespace) return false;
  if (fieldSelector !== undefined && fieldSelector !== `metadata.name=${metadata.name}`) return false;
  return labelSelector === undefined || labelSelector.split(',').every((each) => hasLabel(metadata.labels ?? {}, each));
}

/** `label`, `!label` or `label=value`. */
function hasLabel(labels: Readonly<Record<string, string>>, requirement: string): boolean {
  const [, not, label = '', value] = /^(!?)([\w./-]+)(?:={1,2}([\w./-]*))?$/.exec(requirement) ?? [];
  if (label === '') return false;
  return value === undefined ? label in labels === (not === '') : not === '' && labels[label] === value;
}

export interface ListCall {
  signal?: AbortSignal | undefined;
  /** Objects per request. */
  pageSize?: number | undefined;
}

/**
 * Yields the objects of a scope in batches as their bytes arrive, and returns the version to watch from. Memory is
 * bounded by a batch, not by the list.
 */
export async function* listBatches<T extends KubeObject>(
  transport: Transport,
  scope: Scope<T>,
  { signal, pageSize = 5000 }: ListCall,
): AsyncGenerator<Stored<T>[], string, undefined> {
  const what = `list ${resourceId(scope.resource)}`;
  const checked = (items: Stored<T>[]): Stored<T>[] =>
    items.map((item) => {
      if (isStored<T>(item)) return nameKind(item, scope.resource);
      throw new KubeError('SLW_KUBE_BAD_ANSWER', `${what}: an item has no name, UID or version`);
    });
  let token = '';
  for (;;) {
    const body = await transport.open({
      method: 'GET',
      path: buildApiPath(scope.resource, { namespace: scope.namespace }),
      query: { limit: String(pageSize), ...toSelectorQuery(scope), ...(token === '' ? {} : { continue: token }) },
      accept: buildAcceptHeader(scope, 'list'),
      retry: 'always',
      silenceMs: 30_000,
      what,
      signal,
    });
    const reader = createListItemsReader<T>(what);
    try {
      for await (const chunk of body) {
        const items = reader.push(chunk);
        if (items.length > 0) yield checked(items);
      }
    } finally {
      body.destroy();
    }
    const { items, resourceVersion, continueToken } = reader.finish();
    yield checked(items);
    if (continueToken === '') return resourceVersion;
    token = continueToken;
  }
}

/** An object of 1.5 MiB (etcd's limit) with every byte escaped, plus some margin. */
const MAX_ITEM_BYTES = 16 * 1024 * 1024;
const MAX_HEAD_BYTES = 256 * 1024;
/** Bytes parsed in one go: enough to be fast, too few to block the process for a millisecond. */
const DEFAULT_BATCH_BYTES = 128 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

export interface ListItemsReader<T extends KubeObject> {
  /** Accepts the next bytes and returns the items that they complete. */
  push(chunk: Buffer): Stored<T>[];
  /** End of input: returns the last items and the list's metadata. */
  finish(): { items: Stored<T>[]; resourceVersion: string; continueToken: string };
}

/** Index after the closing brace of the object at `start`; -1 if its end has not arrived. */
export function findObjectEnd(data: Buffer, start: number): number {
  let depth = 0;
  let inString = false;
  for (let i = start; i < data.length; i += 1) {
    const byte = data[i];
    if (inString) {
      if (byte === BACKSLASH) i += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_BRACE) depth += 1;
    else if (byte === CLOSE_BRACE && --depth === 0) return i + 1;
  }
  return -1;
}

/**
 * Parses a Kubernetes list as it arrives, a few items at a time: a list of 10,000 Nodes is 130 MB, and parsing it in
 * one piece blocks the process for a second and keeps all of it in memory.
 *
 * A batch ends at the last bytes that look like a gap between two items (`},{"metadata":`). The same bytes may occur
 * inside an item. Then the text before them is not valid JSON, parsing fails, and the braces of that batch are counted.
 * Counting them always would double the time.
 */
export function createListItemsReader<T extends KubeObject>(
  what: string,
  batch = DEFAULT_BATCH_BYTES,
): ListItemsReader<T> {
  /** Everything before the first item; undefined until it is complete. */
  let head: string | undefined;
  let parts: Buffer[] = [];
  let size = 0;
  let enough = batch;
  let separator: Buffer | undefined;
  let done = false;

  const bad = (why: string, cause?: unknown): KubeError =>
    new KubeError('SLW_KUBE_BAD_ANSWER', `${what}: ${why}`, { cause });

  function keep(rest: Buffer): void {
    parts = [rest];
    size = rest.length;
    // The rest is (part of) an item longer than a batch: checking it at every chunk would copy it each time.
    enough = Math.min(Math.max(batch, 2 * size), MAX_ITEM_BYTES + 1);
  }

  /** The text before the items cannot contain these bytes: it is kind, apiVersion and the list's metadata. */
  function readHead(data: Buffer): Buffer | undefined {
    const text = data.toString('latin1', 0, MAX_HEAD_BYTES);
    const start = /"items":\s*\[/.exec(text);
    if (start === null) {
      if (data.length > MAX_HEAD_BYTES) throw bad('the response is not a list');
      return undefined;
    }
    head = text.slice(0, start.index + start[0].length);
    return data.subarray(head.length);
  }

  /** `},` and the first key of the first item. */
  function separatorIn(data: Buffer, start: number): Buffer | undefined {
    if (separator !== undefined) return separator;
    const colon = data.indexOf(':', start);
    if (colon === -1) return undefined;
    separator = Buffer.concat([Buffer.from('},'), data.subarray(start, colon + 1)]);
    return separator;
  }

  /** All items up to the last gap; undefined if there is no gap, or if it turns out not to be one. */
  function itemsToLastGap(data: Buffer, start: number): ItemBatch<T> | undefined {
    const between = separatorIn(data, start);
    const gap = between === undefined ? -1 : data.lastIndexOf(between);
    if (gap <= start) return undefined;
    const items = parse(`[${data.toString('utf8', start, gap + 1)}]`) as Stored<T>[] | undefined;
    return items === undefined ? undefined : { items, end: gap + 1 };
  }

  function itemsByBraces(data: Buffer, start: number): ItemBatch<T> {
    const items: Stored<T>[] = [];
    let at = start;
    while (data[at] === OPEN_BRACE) {
      const end = findObjectEnd(data, at);
      if (end === -1) break;
      const item = parse(data.toString('utf8', at, end)) as Stored<T> | undefined;
      if (item === undefined) throw bad('an item is not JSON');
      items.push(item);
      at = skipGap(data, end);
    }
    if (data.length - at > MAX_ITEM_BYTES) throw bad(`an item is longer than ${MAX_ITEM_BYTES} bytes`);
    return { items, end: at };
  }

  function readItems(data: Buffer, last: boolean): Stored<T>[] {
    const start = skipGap(data, 0);
    const found = (last ? undefined : itemsToLastGap(data, start)) ?? itemsByBraces(data, start);
    const rest = data.subarray(skipGap(data, found.end));
    done = rest[0] === CLOSE_BRACKET;
    if (rest.length > 0 && !done && rest[0] !== OPEN_BRACE) throw bad('an item is not an object');
    keep(rest);
    return found.items;
  }

  function read(last: boolean): Stored<T>[] {
    const data = Buffer.concat(parts, size);
    const items = head === undefined ? readHead(data) : data;
    if (items !== undefined && !done) return readItems(items, last);
    if (done && size > MAX_HEAD_BYTES) throw bad('the text after the items is too long');
    keep(data);
    return [];
  }

  return {
    push(chunk) {
      parts.push(chunk);
      size += chunk.length;
      return size < enough ? [] : read(false);
    },
    finish() {
      const items = read(true);
      return { items, ...envelope(`${head ?? ''}${Buffer.concat(parts, size).toString('utf8')}`, bad) };
    },
  };
}

interface ItemBatch<T extends KubeObject> {
  items: Stored<T>[];
  /** After the last item. */
  end: number;
}

function skipGap(data: Buffer, start: number): number {
  let at = start;
  while (data[at] === COMMA || isBlank(data[at])) at += 1;
  return at;
}

function parse(text: string): unknown {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : undefined;
}

interface Envelope {
  items?: unknown;
  metadata?: { resourceVersion?: unknown; continue?: unknown };
}

/**
 * The list without its items. An empty list may arrive as `"items":null`: then all of it is head. Accepting anything
 * else as an empty list would read as "everything was deleted".
 */
function envelope(
  text: string,
  bad: (why: string, cause?: unknown) => KubeError,
): { resourceVersion: string; continueToken: string } {
  const { items, metadata } = decode(text, bad);
  const { resourceVersion, continue: token = '' } = metadata ?? {};
  const empty = items === null || (Array.isArray(items) && items.length === 0);
  if (!empty || !isText(resourceVersion) || typeof token !== 'string') throw bad('the response is not a list');
  return { resourceVersion, continueToken: token };
}

function decode(text: string, bad: (why: string, cause?: unknown) => KubeError): Envelope {
  try {
    return (JSON.parse(text) as Envelope | null) ?? {};
  } catch (cause) {
    throw bad('the list is incomplete', cause);
  }
}
