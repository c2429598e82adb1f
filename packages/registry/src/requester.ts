// Asks for a part of an image: place after place, with a login where one is wanted, again where that may help.
import { backoffMs, halfJitter } from '@slipway/base/backoff';
import type { Clock } from '@slipway/base/clock';
import { createDeadline } from '@slipway/base/http';
import { toRegistryError } from './response.ts';
import { type Authorizer, parseChallenge } from './authorization.ts';
import { type RegistryRequest, RegistryError } from './errors.ts';
import type { PullSource } from './pull-sources.ts';
import type { RegistryResponse, Transport } from './transport.ts';

/** One image that is being read: whom to ask for its parts. */
export interface Image {
  /** As the user named it. */
  readonly reference: string;
  /** Who gave something last is asked first for the next part, so that a place that hangs costs its time once. */
  places: readonly PullSource[];
  readonly signal: AbortSignal;
}

export interface PartRequest<T> {
  /** For messages. */
  readonly what: string;
  readonly url: (place: PullSource) => URL;
  readonly accept?: string | undefined;
  /** For one attempt at one place, from the first byte sent to the last received. */
  readonly timeoutMs: number;
  /** Reads and verifies the answer. */
  readonly read: (answer: RegistryResponse, asked: RegistryRequest) => Promise<T>;
}

export type Requester = <T>(image: Image, question: PartRequest<T>) => Promise<T>;

/** Dates of other hosts are compared with it. */
export type RegistryClock = Pick<Clock, 'wallNow' | 'sleep'>;

export interface RequesterOptions {
  readonly transport: Transport;
  readonly authorizer: Authorizer;
  /** Requests that are under way at the same time, to one host. */
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
 * Asks the places of an image one after the other until one gives what the digest names. Only when none did, those that
 * may yet are asked again: another mirror is faster than waiting for this one.
 */
export function createRequester({ transport, authorizer, atOnce, clock, retries }: RequesterOptions): Requester {
  const limit = createHostLimit(atOnce);

  /** Logs in where the registry wants it; a token that it no longer takes is made anew, once. */
  async function sendTo<T>(
    place: PullSource,
    question: PartRequest<T>,
    asked: RegistryRequest,
    signal: AbortSignal,
  ): Promise<RegistryResponse> {
    const exchange = { url: question.url(place), asked, signal, accept: question.accept, redirects: MAX_REDIRECTS };
    const first = await transport.get({ ...exchange, authorization: authorizer.current(place) });
    // Who answers after a redirect gets neither a login nor a say in where one is sent.
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
    const release = await limit.acquire(place.host, image.signal);
    const deadline = createDeadline(question.timeoutMs, image.signal);
    try {
      const answer = await sendTo(place, question, asked, deadline.signal);
      if (answer.status !== 200) throw await toRegistryError(answer, asked, authorizer.loginOf(place), clock.wallNow());
      return await question.read(answer, { ...asked, host: answer.host });
    } catch (error) {
      image.signal.throwIfAborted();
      if (!deadline.passed()) throw error;
      const text = `expected the whole answer within ${question.timeoutMs / 1000} s, found that it took longer. Check the load of the host and the network between`;
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
      open = open.filter(({ failure }) => failure?.passing === true && readRetryAfter(failure) <= MAX_WAIT_MS);
      if (open.length === 0 || round >= retries) throw combineFailures(attempts, image, question.what);
      const wanted = Math.max(...open.map(({ failure }) => readRetryAfter(failure)));
      await clock.sleep(waitBefore(round, wanted), image.signal);
    }
  };
}

/** The longest that we wait because somebody says so; who wants more is not asked again this time. */
const MAX_WAIT_MS = 60_000;

const backoff = { firstMs: 500, maxMs: 15_000, jitter: halfJitter };

/** How long to wait before the next round: growing, spread so that many who failed together do not come back together. */
export const waitBefore = (round: number, retryAfterMs: number, random?: () => number): number =>
  Math.max(backoffMs(backoff, round + 1, random), retryAfterMs);

const readRetryAfter = (failure: RegistryError | undefined): number => failure?.retryAfterMs ?? 0;

/** One failure, or all of them in one. "Not found" is only what everybody says; otherwise the first other failure counts. */
function combineFailures(attempts: readonly Attempt[], image: Image, what: string): RegistryError {
  const failures = attempts.flatMap(({ failure, tries }) => (failure === undefined ? [] : [{ failure, tries }]));
  const worst = failures.find(({ failure }) => failure.code !== 'SLW_REGISTRY_NOT_FOUND') ?? failures[0];
  if (worst === undefined) throw new Error(`${image.reference}: no place was asked`);
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
  const text = `${image.reference}: ${what}: none of the ${failures.length} places that may have it gave it. ${lines.join('; ')}`;
  return new RegistryError(code, text, details);
}

const triesText = (tries: number): string => (tries === 1 ? '' : ` (tried ${tries} times)`);

/** The wait for something shared ends with the caller's own signal; the shared work goes on. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** How many requests are under way at once, for each host. */
interface HostLimit {
  /** Waits for a turn; what it returns gives the turn back. */
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
