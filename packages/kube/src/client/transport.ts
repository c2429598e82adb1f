import { type Backoff, backoffMs, halfJitter } from '@slipway/base/backoff';
import { systemClock } from '@slipway/base/clock';
import { createDeadline, readBounded } from '@slipway/base/http';
import { isRecord } from '@slipway/base/json';
import { type Answer, type Body, type Connections, createConnections, type Method, type Trust } from './connections.ts';
import { type Identity, tokenExpiry } from './credentials.ts';
import { toKubeError, isKubeError, KubeError, lostRequestError, type Status } from './errors.ts';
import type { ClusterAccess } from './access.ts';
import { DEFAULT_PINGS, type PingTimes } from './http2.ts';
import { createLimiter } from './limiter.ts';

export interface Request {
  method: Method;
  path: string;
  query?: Record<string, string> | undefined;
  body?: object | undefined;
  contentType?: string | undefined;
  accept?: string | undefined;
  /** For messages: `get Node worker-1`. */
  what: string;
  /**
   * `always`: reads. `unsent`: only if the server cannot have acted on it (429, 503, no connection).
   * `never`: the first response is final.
   */
  retry: 'always' | 'unsent' | 'never';
  /** For one attempt, from the first byte sent to the last received; for `open`, up to the headers. */
  timeoutMs?: number | undefined;
  /** For `open`: how long the stream may be silent before it is considered broken. */
  silenceMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called right before the bytes are sent, after every wait; throws to stop. */
  beforeSend?: (() => void) | undefined;
  /** The identity to impersonate, if any. */
  as?: Impersonated | undefined;
}

export interface Impersonated {
  readonly user: string;
  readonly groups: readonly string[];
}

/** Bytes as they arrive; failures on the way are KubeErrors. */
export type Stream = Body;

export interface Transport {
  readonly server: string;
  json(request: Request): Promise<unknown>;
  /** Opens a long response (a list, a watch). The caller reads and closes it; only opening is retried. */
  open(request: Request): Promise<Stream>;
  close(): Promise<void>;
}

export interface TransportOptions {
  userAgent?: string | undefined;
  maximumInFlight?: number | undefined;
  /** How long one request may be retried. */
  retryForMs?: number | undefined;
  /** In bytes; applies to `json` and to error bodies. */
  largestAnswer?: number | undefined;
  onRetry?: ((why: KubeError) => void) | undefined;
  /**
   * One HTTP/2 connection for everything: for programs of which a fleet runs thousands. By default each concurrent
   * request has its own HTTP/1.1 connection, which reads the events of 10,000 objects about twice as fast.
   */
  multiplex?: boolean | { readonly pings: PingTimes } | undefined;
}

const DEFAULT_MAX_RESPONSE_BYTES = 64 * 1024 * 1024;
const ATTEMPT_TIMEOUT_MS = 30_000;
const retries: Backoff = { firstMs: 100, maxMs: 5000, jitter: halfJitter };

export function createTransport(access: ClusterAccess, options: TransportOptions = {}): Transport {
  const limiter = createLimiter(options.maximumInFlight);
  const { retryForMs = 30_000, largestAnswer = DEFAULT_MAX_RESPONSE_BYTES, multiplex = false } = options;
  const pings = typeof multiplex === 'object' ? multiplex.pings : multiplex ? DEFAULT_PINGS : undefined;
  const base = new URL(access.server);
  const prefix = base.pathname === '/' ? '' : base.pathname.replace(/\/+$/, '');
  /** The last ones take new requests; others finish their responses. */
  const opened: (Trust & { connections: Connections })[] = [];
  let closed = false;

  /** Connections are bound to the client certificate and the CAs that they were opened with. */
  function connectionsFor(trust: Trust): Connections {
    const last = opened.at(-1);
    if (last !== undefined && last.certificate === trust.certificate && last.ca === trust.ca) return last.connections;
    last?.connections.retire();
    const connections = createConnections(access, trust, pings);
    opened.push({ ...trust, connections });
    return connections;
  }

  async function send(request: Request, { bodyTimeout, signal }: { bodyTimeout: number; signal: AbortSignal | null }) {
    const [ca, identity] = [await access.ca(), await access.credentials.current()];
    const headers = buildHeaders(request, identity, access.credentials.source, options.userAgent);
    const start: Start = { sent: false, refusal: undefined };
    try {
      const answer = await connectionsFor({ ca, certificate: identity.certificate }).send({
        path: `${prefix}${request.path}${formatQuery(request.query)}`,
        method: request.method,
        headers,
        body: request.body === undefined ? null : JSON.stringify(request.body),
        headersTimeoutMs: request.timeoutMs ?? ATTEMPT_TIMEOUT_MS,
        silenceMs: bodyTimeout,
        signal,
        beforeSend: () => begin(request, start),
        onUnread: () => {
          start.sent = false;
        },
      });
      return { answer, identity };
    } catch (error) {
      if (start.refusal !== undefined) throw start.refusal.reason;
      throw lost(error, request, start.sent);
    }
  }

  /** Maps an error that replaced or interrupted a response. */
  function lost(error: unknown, request: Request, sent: boolean): unknown {
    if (error instanceof KubeError) return error;
    if (request.signal?.aborted === true) return request.signal.reason;
    return lostRequestError(error, {
      what: request.what,
      server: access.server,
      write: request.method !== 'GET',
      sent,
    });
  }

  async function readText(body: Body, request: Request): Promise<string> {
    const bytes = await readBounded(body, largestAnswer).catch((error: unknown) => {
      throw lost(error, request, true);
    });
    if (bytes !== null) return bytes.toString('utf8');
    const text = `${request.what}: the response is longer than ${largestAnswer} bytes`;
    throw new KubeError('SLW_KUBE_BAD_ANSWER', text);
  }

  async function attempt(request: Request): Promise<unknown> {
    const release = await limiter.acquire(request.signal);
    const deadline = createDeadline(request.timeoutMs ?? ATTEMPT_TIMEOUT_MS, request.signal);
    try {
      const { answer, identity } = await send(request, { bodyTimeout: 0, signal: deadline.signal });
      const text = await readText(answer.body, request);
      if (answer.status >= 300) throw toResponseError(answer, text, request, identity.token);
      limiter.succeeded();
      return parseJson(text, request.what);
    } catch (error) {
      if (isKubeError(error, 'SLW_KUBE_THROTTLED')) limiter.overloaded(error.retryAfterMs ?? 1000);
      throw error;
    } finally {
      deadline.cancel();
      release();
    }
  }

  /** Retries until a response is final, within the time that the request allows. */
  async function tryUntilAnswered<T>(request: Request, attemptOnce: () => Promise<T>): Promise<T> {
    const giveUpAt = performance.now() + retryForMs;
    let refreshed = false;
    for (let tries = 0; ; tries += 1) {
      try {
        return await attemptOnce();
      } catch (error) {
        if (!(error instanceof KubeError) || closed) throw error;
        if (error.code === 'SLW_KUBE_UNAUTHORIZED' && !refreshed) {
          refreshed = true;
          await access.credentials.refresh();
          continue;
        }
        const delay = retryDelay(error, request.retry, tries);
        if (delay === undefined || performance.now() + delay > giveUpAt) throw error;
        options.onRetry?.(error);
        await systemClock.sleep(delay, request.signal);
      }
    }
  }

  async function openOnce(request: Request): Promise<Stream> {
    const signal = request.signal ?? null;
    const { answer, identity } = await send(request, { bodyTimeout: request.silenceMs ?? 0, signal });
    if (answer.status < 300) return toStream(answer.body, (error) => lost(error, request, true));
    throw toResponseError(answer, await readText(answer.body, request), request, identity.token);
  }

  return {
    server: access.server,
    json: (request) => tryUntilAnswered(request, () => attempt(request)),
    open: (request) => tryUntilAnswered(request, () => openOnce(request)),
    async close() {
      closed = true;
      await Promise.all(opened.map(({ connections }) => connections.destroy()));
    },
  };
}

interface Start {
  sent: boolean;
  /** What `beforeSend` threw. */
  refusal: { reason: unknown } | undefined;
}

function begin(request: Request, start: Start): void {
  try {
    request.beforeSend?.();
  } catch (reason) {
    start.refusal = { reason };
    throw reason;
  }
  start.sent = true;
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new KubeError('SLW_KUBE_BAD_ANSWER', `${what}: the response is not JSON`, { cause });
  }
}

/** Maps a response other than 2xx to an error. */
function toResponseError(answer: Answer, text: string, asked: Request, token: string | undefined): KubeError {
  const after = answer.headers['retry-after'];
  const error = toKubeError({
    status: answer.status,
    body: statusIn(text),
    retryAfter: Array.isArray(after) ? after[0] : after,
    what: asked.what,
    write: asked.method !== 'GET',
  });
  if (error.code !== 'SLW_KUBE_UNAUTHORIZED' || token === undefined) return error;
  const end = tokenExpiry(token);
  if (end === undefined || end.getTime() > Date.now()) return error;
  const text401 = `${asked.what}: the token expired at ${end.toISOString()}. Log in again, or pass a kubeconfig with a valid token`;
  return new KubeError(error.code, text401, { status: 401, reason: error.reason });
}

function statusIn(text: string): Status | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isRecord(body) && body['kind'] === 'Status' ? body : undefined;
  } catch {
    return undefined;
  }
}

function toStream(body: Body, explain: (error: unknown) => unknown): Stream {
  return {
    async *[Symbol.asyncIterator]() {
      try {
        yield* body;
      } catch (error) {
        throw explain(error);
      }
    },
    destroy: () => body.destroy(),
  };
}

function buildHeaders(
  request: Request,
  { token }: Identity,
  source: string,
  userAgent = 'slipway',
): Record<string, string | string[]> {
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    const text = `${source}: expected a bearer token on one line without spaces, found something else`;
    throw new KubeError('SLW_KUBE_CREDENTIALS', text);
  }
  return {
    accept: request.accept ?? 'application/json',
    'user-agent': userAgent,
    ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(request.as && { 'impersonate-user': request.as.user, 'impersonate-group': [...request.as.groups] }),
  };
}

const formatQuery = (query: Record<string, string> | undefined): string => {
  const text = new URLSearchParams(query).toString();
  return text === '' ? '' : `?${text}`;
};

/** Delay before the request may be retried; undefined if it must not be. */
export function retryDelay(error: KubeError, retry: Request['retry'], tries: number): number | undefined {
  if (retry === 'never') return undefined;
  const backoff = backoffMs(retries, tries + 1);
  // A write that may have taken effect has SLW_KUBE_OUTCOME_UNKNOWN, which is never retried.
  const refused = error.code === 'SLW_KUBE_THROTTLED' || (error.code === 'SLW_KUBE_SERVER' && error.status === 503);
  if (refused) return Math.max(error.retryAfterMs ?? 0, backoff);
  const again =
    error.code === 'SLW_KUBE_UNREACHABLE' ||
    (retry === 'always' && isKubeError(error, 'SLW_KUBE_SERVER', 'SLW_KUBE_TIMEOUT'));
  return again ? backoff : undefined;
}

/**
 * Sends requests as another user over the same connections, if the caller may impersonate: many identities share one
 * connection. The caller still owns the transport: closing this one closes nothing.
 */
export function impersonating(transport: Transport, as: Impersonated): Transport {
  return {
    server: transport.server,
    json: (request) => transport.json({ ...request, as }),
    open: (request) => transport.open({ ...request, as }),
    close: async () => {},
  };
}
