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

/** A Retry-After header, seconds or a date, as milliseconds from `wallNow`. */
export function parseRetryAfter(header: string | readonly string[] | undefined, wallNow: number): number | undefined {
  const text = (typeof header === 'string' ? header : header?.[0])?.trim();
  if (text === undefined || text === '' || text.length > MAX_HEADER) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - wallNow);
}
