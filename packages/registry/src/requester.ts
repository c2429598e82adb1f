// Requests a part of an image from its sources in order, with logins and retries.
import { backoffMs, halfJitter } from '@slipway/base/backoff';
import type { Clock } from '@slipway/base/clock';
import { createDeadline, createRestingHosts } from '@slipway/base/http';
import { toRegistryError } from './response.ts';
import { type Authorizer, parseChallenge } from './authorization.ts';
import { type RegistryRequest, RegistryError } from './errors.ts';
import type { PullSource } from './pull-sources.ts';
import type { RegistryResponse, Transport } from './transport.ts';

/** An image that is being read, and its sources. */
export interface Image {
  /** As the user wrote it. */
  readonly reference: string;
  /** The source that last succeeded comes first, so that a hanging source costs its timeout only once. */
  places: readonly PullSource[];
  readonly signal: AbortSignal;
}

export interface PartRequest<T> {
  /** For messages. */
  readonly what: string;
  readonly url: (place: PullSource) => URL;
  readonly accept?: string | undefined;
  /** For one attempt at one source, from the first byte sent to the last received. */
  readonly timeoutMs: number;
  /** Reads and verifies the response. */
  readonly read: (answer: RegistryResponse, asked: RegistryRequest) => Promise<T>;
}

export type Requester = <T>(image: Image, question: PartRequest<T>) => Promise<T>;

/** Wall time, because it is compared with dates of other hosts. */
export type RegistryClock = Pick<Clock, 'wallNow' | 'sleep'>;

export interface RequesterOptions {
  readonly transport: Transport;
  readonly authorizer: Authorizer;
  /** Concurrent requests per host. */
  readonly atOnce: number;
  readonly clock: RegistryClock;
  readonly retries: number;
}

const MAX_REDIRECTS = 5;

interface Attempt {
  readonly place: PullSource;
  failure: RegistryError | undefined;
  tries: number;
}

/**
 * Tries the sources of an image in order until one returns content that matches the digest. Sources with transient
 * failures are retried only after all others were tried: another mirror is faster than waiting.
 */
export function createRequester({ transport, authorizer, atOnce, clock, retries }: RequesterOptions): Requester {
  const limit = createHostLimit(atOnce);
  const resting = createRestingHosts(() => clock.wallNow());

  /** A host that asked for minutes gets them, however often callers retry. */
  function checkRest(asked: RegistryRequest): void {
    const retryAfterMs = resting.remainingMs(asked.host);
    if (retryAfterMs === 0) return;
    const text = `the host asked for a pause, of which ${Math.ceil(retryAfterMs / 1000)} s are left. It is not asked before`;
    throw new RegistryError('SLW_REGISTRY_THROTTLED', text, { asked, retryAfterMs });
  }

  /** Logs in if the registry requires it. A rejected token is renewed once. */
  async function sendTo<T>(
    place: PullSource,
    question: PartRequest<T>,
    asked: RegistryRequest,
    signal: AbortSignal,
  ): Promise<RegistryResponse> {
    const exchange = { url: question.url(place), asked, signal, accept: question.accept, redirects: MAX_REDIRECTS };
    const first = await transport.get({ ...exchange, authorization: authorizer.current(place) });
    // The target of a redirect neither receives a login nor decides where one is sent.
    if (first.status !== 401 || first.elsewhere) return first;
    await first.discard();
    authorizer.forget(place);
    const challenge = parseChallenge(first.header('www-authenticate'));
    const authorization = await abortable(authorizer.answer(challenge, place, asked), signal);
    const second = await transport.get({ ...exchange, authorization });
    if (second.status === 401) authorizer.forget(place);
    return second;
  }

  async function requestFrom<T>(place: PullSource, image: Image, question: PartRequest<T>): Promise<T> {
    const asked: RegistryRequest = { reference: image.reference, what: question.what, host: place.host };
    checkRest(asked);
    const release = await limit.acquire(place.host, image.signal);
    const deadline = createDeadline(question.timeoutMs, image.signal);
    try {
      const answer = await sendTo(place, question, asked, deadline.signal);
      if (answer.status !== 200) throw await toRegistryError(answer, asked, authorizer.loginOf(place), clock.wallNow());
      return await question.read(answer, { ...asked, host: answer.host });
    } catch (error) {
      image.signal.throwIfAborted();
      if (!deadline.passed()) throw error;
      const text = `expected the complete response within ${question.timeoutMs / 1000} s, but it took longer. Check the load of the host and the network`;
      throw new RegistryError('SLW_REGISTRY_SILENT', text, { asked });
    } finally {
      deadline.cancel();
      release();
    }
  }

  async function tryOnce<T>(attempt: Attempt, image: Image, question: PartRequest<T>): Promise<{ got: T } | undefined> {
    attempt.tries += 1;
    try {
      const got = await requestFrom(attempt.place, image, question);
      image.places = [attempt.place, ...image.places.filter((place) => place !== attempt.place)];
      return { got };
    } catch (error) {
      image.signal.throwIfAborted();
      if (!(error instanceof RegistryError)) throw error;
      if (readRetryAfter(error) > MAX_PATIENCE_MS) resting.rest(attempt.place.host, readRetryAfter(error));
      attempt.failure = error;
      return undefined;
    }
  }

  return async <T>(image: Image, question: PartRequest<T>): Promise<T> => {
    const attempts: Attempt[] = image.places.map((place) => ({ place, failure: undefined, tries: 0 }));
    let open = attempts;
    for (let round = 0; ; round += 1) {
      for (const attempt of open) {
        const answer = await tryOnce(attempt, image, question);
        if (answer !== undefined) return answer.got;
      }
      open = open.filter(({ failure }) => failure?.passing === true && readRetryAfter(failure) <= MAX_PATIENCE_MS);
      if (open.length === 0 || round >= retries) throw combineFailures(attempts, image, question.what);
      const wanted = Math.max(...open.map(({ failure }) => readRetryAfter(failure)));
      await clock.sleep(waitBefore(round, wanted), image.signal);
    }
  };
}

/** A caller is not kept waiting for longer. It gets the error, and the host is not asked before its time anyway. */
const MAX_PATIENCE_MS = 60_000;

const backoff = { firstMs: 500, maxMs: 15_000, jitter: halfJitter };

/** The delay before the next round, with backoff and jitter. */
export const waitBefore = (round: number, retryAfterMs: number, random?: () => number): number =>
  Math.max(backoffMs(backoff, round + 1, random), retryAfterMs);

const readRetryAfter = (failure: RegistryError | undefined): number => failure?.retryAfterMs ?? 0;

/** Combines the failures of all sources. The first failure other than "not found" determines the code. */
function combineFailures(attempts: readonly Attempt[], image: Image, what: string): RegistryError {
  const failures = attempts.flatMap(({ failure, tries }) => (failure === undefined ? [] : [{ failure, tries }]));
  const worst = failures.find(({ failure }) => failure.code !== 'SLW_REGISTRY_NOT_FOUND') ?? failures[0];
  if (worst === undefined) throw new Error(`${image.reference}: no source was tried; this is a bug`);
  const { code, status, retryAfterMs } = worst.failure;
  const details = { status, retryAfterMs, failures: failures.map(({ failure }) => failure) };
  if (failures.length === 1) {
    const { asked } = worst.failure;
    return new RegistryError(code, `${worst.failure.text}${triesText(worst.tries)}`, {
      ...details,
      asked,
      cause: worst.failure,
    });
  }
  const lines = failures.map(
    ({ failure, tries }) => `${failure.host}: ${failure.text}${triesText(tries)} [${failure.code}]`,
  );
  const text = `${image.reference}: ${what}: all ${failures.length} sources failed. ${lines.join('; ')}`;
  return new RegistryError(code, text, details);
}

const triesText = (tries: number): string => (tries === 1 ? '' : ` (tried ${tries} times)`);

/** Stops waiting when the signal aborts. The shared work continues. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Limits the concurrent requests per host. */
interface HostLimit {
  /** Waits for a free slot. Returns a function that releases it. */
  acquire(host: string, signal: AbortSignal): Promise<() => void>;
}

interface HostQueue {
  underWay: number;
  readonly waiting: Set<() => void>;
}

function createHostLimit(atOnce: number): HostLimit {
  const lines = new Map<string, HostQueue>();

  function getHostQueue(host: string): HostQueue {
    const line = lines.get(host) ?? { underWay: 0, waiting: new Set() };
    lines.set(host, line);
    return line;
  }

  function release(host: string, line: HostQueue): void {
    line.underWay -= 1;
    const [next] = line.waiting;
    if (next !== undefined) next();
    else if (line.underWay === 0) lines.delete(host);
  }

  return {
    acquire(host, signal) {
      signal.throwIfAborted();
      const line = getHostQueue(host);
      return new Promise((resolve, reject) => {
        const abort = (): void => {
          line.waiting.delete(go);
          reject(signal.reason);
        };
        const go = (): void => {
          signal.removeEventListener('abort', abort);
          line.waiting.delete(go);
          line.underWay += 1;
          resolve(() => release(host, line));
        };
        if (line.underWay < atOnce) return go();
        signal.addEventListener('abort', abort, { once: true });
        line.waiting.add(go);
      });
    },
  };
}
