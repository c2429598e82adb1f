import { toKubeError, KubeError, type Status } from '../client/errors.ts';
import { buildAcceptHeader, type Scope, toSelectorQuery } from '../client/list.ts';
import {
  isStored,
  isText,
  type KubeObject,
  nameKind,
  buildApiPath,
  type Resource,
  resourceId,
  type Stored,
} from '../client/resource.ts';
import type { Transport } from '../client/transport.ts';
import type { WatchEnd } from './reconnect.ts';

export type WatchEvent<T extends KubeObject> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: Stored<T> }
  | { type: 'BOOKMARK'; resourceVersion: string; initialEventsEnd: boolean };

export interface WatchStart {
  /** Resume after this version; undefined: stream every object first (WatchList), then changes. */
  from: string | undefined;
  signal: AbortSignal;
  /** The server has accepted the watch. */
  onOpen?: (() => void) | undefined;
}

/** A silent watch is reopened after this long: a live one sends a bookmark about once a minute. */
const SILENCE_MS = 150_000;

/** The server ends a watch after 5 to 10 minutes, so that watches spread over the API servers. */
const lifetimeSeconds = (): number => 300 + Math.floor(Math.random() * 300);

/** The server counts the time from the request, so its end may arrive slightly before ours. */
const LIFETIME_TOLERANCE_MS = 2000;

/**
 * One watch, until the server ends it (returns how) or it fails (throws a KubeError; SLW_KUBE_GONE means that the
 * history is gone). An incomplete last line is dropped: its event is sent again when the watch resumes.
 */
export async function watchOnce<T extends KubeObject>(
  transport: Transport,
  scope: Scope<T>,
  start: WatchStart,
  onEvent: (event: WatchEvent<T>) => void,
): Promise<Exclude<WatchEnd, { type: 'failed' }>> {
  const lifetime = lifetimeSeconds();
  const what = `watch ${resourceId(scope.resource)}`;
  const body = await transport.open({
    method: 'GET',
    path: buildApiPath(scope.resource, { namespace: scope.namespace }),
    query: {
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: String(lifetime),
      ...toSelectorQuery(scope),
      ...(start.from === undefined
        ? { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' }
        : { resourceVersion: start.from }),
    },
    accept: buildAcceptHeader(scope, 'watch'),
    what,
    retry: 'never',
    silenceMs: SILENCE_MS,
    signal: start.signal,
  });
  start.onOpen?.();
  const openedAt = performance.now();
  const splitter = createLineSplitter((line) => onEvent(parseEvent<T>(line, scope.resource, what)));
  try {
    for await (const chunk of body) splitter.push(chunk);
  } finally {
    body.destroy();
  }
  const openMs = performance.now() - openedAt;
  return openMs >= lifetime * 1000 - LIFETIME_TOLERANCE_MS ? { type: 'expired' } : { type: 'early', openMs };
}

type RawObject = Partial<KubeObject> & Status & { code?: number };

interface RawEvent {
  type?: string;
  object?: RawObject;
}

function parseEvent<T extends KubeObject>(line: string, resource: Resource<T>, what: string): WatchEvent<T> {
  const { type, object } = decode(line, what);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      if (isStored<T>(object)) return { type, object: nameKind(object, resource) };
      throw new KubeError(
        'SLW_KUBE_BAD_ANSWER',
        `${what}: received an event whose object lacks a name, UID or version`,
      );
    case 'BOOKMARK':
      return bookmark(object, what);
    case 'ERROR':
      throw toKubeError({ status: object?.code ?? 500, body: object, retryAfter: undefined, what, write: false });
    default:
      throw new KubeError('SLW_KUBE_BAD_ANSWER', `${what}: received an event of unknown type ${JSON.stringify(type)}`);
  }
}

/** The version is required: a watch without one misses what was deleted meanwhile. */
function bookmark<T extends KubeObject>(object: RawObject | undefined, what: string): WatchEvent<T> {
  const { resourceVersion, annotations } = object?.metadata ?? {};
  if (!isText(resourceVersion))
    throw new KubeError('SLW_KUBE_BAD_ANSWER', `${what}: received a bookmark without a version`);
  const initialEventsEnd = annotations?.['k8s.io/initial-events-end'] === 'true';
  return { type: 'BOOKMARK', resourceVersion, initialEventsEnd };
}

function decode(line: string, what: string): RawEvent {
  try {
    const event: unknown = JSON.parse(line);
    if (typeof event === 'object' && event !== null) return event;
  } catch {
    // The parser's message quotes the line, which may be part of a Secret.
  }
  throw new KubeError('SLW_KUBE_BAD_ANSWER', `${what}: received a line that is not a JSON object`);
}

/** Whether the error means that the server cannot stream the initial objects (WatchList), so that paging must do. */
export function lacksWatchList(error: unknown): boolean {
  if (!(error instanceof KubeError)) return false;
  // etcd before 3.5.x with progress requests: 500; a server that does not support the parameter: 400 or 422.
  const asked = /sendInitialEvents|resourceVersionMatch|RequestWatchProgress/i.test(error.message);
  return asked && [400, 422, 500].includes(error.status ?? 0);
}

/** An object of 1.5 MiB (etcd's limit) with every byte escaped, plus some margin. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

export interface LineSplitter {
  push(chunk: Buffer): void;
  /** Bytes of an incomplete line. */
  readonly pending: number;
}

/**
 * Splits a byte stream into lines. Works on bytes, so that a character split between chunks is complete before it is
 * decoded, and decodes each line once.
 */
export function createLineSplitter(onLine: (line: string) => void, longest = MAX_LINE_BYTES): LineSplitter {
  let parts: Buffer[] = [];
  let pending = 0;

  function finish(chunk: Buffer, start: number, end: number): void {
    if (parts.length === 0) {
      if (end > start) onLine(chunk.toString('utf8', start, end));
      return;
    }
    parts.push(chunk.subarray(start, end));
    const line = Buffer.concat(parts, pending + end - start).toString('utf8');
    parts = [];
    pending = 0;
    onLine(line);
  }

  return {
    get pending() {
      return pending;
    },
    push(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        finish(chunk, start, end);
        start = end + 1;
      }
      if (start === chunk.length) return;
      parts.push(start === 0 ? chunk : chunk.subarray(start));
      pending += chunk.length - start;
      if (pending > longest) {
        throw new KubeError('SLW_KUBE_BAD_ANSWER', `received a line longer than ${longest} bytes from a watch`);
      }
    },
  };
}
