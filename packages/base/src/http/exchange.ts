// Limits of one request: time, size, and when the server allows a retry.

/** Reads a whole body. Returns null if it is longer. Errors are thrown unchanged. */
export async function readBounded(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    // Leaving the loop closes the connection.
    if (size > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export interface Deadline {
  /** Aborts when the caller aborts or the time limit has passed. */
  readonly signal: AbortSignal;
  passed(): boolean;
  /** Must always be called at the end. */
  cancel(): void;
}

/** A time limit for the whole attempt: slowly arriving bytes do not extend it. */
export function createDeadline(ms: number, signal?: AbortSignal): Deadline {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new DOMException('the time limit has passed', 'TimeoutError')), ms);
  return {
    signal: signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]),
    passed: () => limit.signal.aborted,
    cancel: () => clearTimeout(timer),
  };
}

/** Throws if the caller has aborted. A timeout is a failure of the host, not an abort. */
export function throwIfStopped(signal: AbortSignal): void {
  const isLate = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
  if (!isLate) signal.throwIfAborted();
}

const MAX_HEADER = 100;

/** A host that asks for more is asked again after this time: its clock or its answer is probably wrong. */
export const MAX_RETRY_AFTER_MS = 10 * 60_000;

/** A Retry-After header, seconds or a date, as milliseconds from `wallNow`: as sent, up to ten minutes. */
export function parseRetryAfter(header: string | readonly string[] | undefined, wallNow: number): number | undefined {
  const text = (typeof header === 'string' ? header : header?.[0])?.trim();
  if (text === undefined || text === '' || text.length > MAX_HEADER) return undefined;
  // A date starts with a weekday. Date.parse would also accept "-1".
  const isDate = /^[a-z]/i.test(text);
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : isDate ? Date.parse(text) - wallNow : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS);
}

/** Hosts that asked for a pause. All callers share it. */
export interface RestingHosts {
  /** Notes what the host asked for. */
  rest(host: string, ms: number): void;
  /** How long the host is not to be asked; 0: it may be asked now. */
  remainingMs(host: string): number;
}

export function createRestingHosts(now: () => number): RestingHosts {
  const until = new Map<string, number>();
  return {
    rest(host, ms) {
      until.set(host, Math.max(until.get(host) ?? 0, now() + Math.min(ms, MAX_RETRY_AFTER_MS)));
    },
    remainingMs(host) {
      const rest = (until.get(host) ?? 0) - now();
      // More than it may ask for: the clock was set back.
      if (rest > 0 && rest <= MAX_RETRY_AFTER_MS) return rest;
      until.delete(host);
      return 0;
    },
  };
}
