// Ends pulls that stall. A container runtime reports no progress of a pull, so the time that it may take follows from
// the size of its image.
import type { Clock } from '@slipway/base/clock';
import { formatBytes } from '@slipway/base/text';
import type { SizedImage } from '@slipway/fleet';
import { DaemonError } from '../errors.ts';

/** For everything that does not depend on the size: a busy registry, unpacking. */
const START_MS = 10 * 60_000;
/** Slower than ten pulls that share a line of 10 Mbit/s. */
const MIN_BYTES_PER_SECOND = 100_000;

/** Layers that are already present only make it shorter. */
export const computePullLimitMs = (bytes: number): number => START_MS + (bytes / MIN_BYTES_PER_SECOND) * 1000;

export interface LimitedPull {
  readonly image: string;
  /** Undefined: its size is unknown. */
  readonly sized: SizedImage | undefined;
  readonly clock: Pick<Clock, 'setTimer'>;
  readonly signal: AbortSignal;
}

/** Rejects with SLW_PINNING_STALLED if the pull takes too long, after its signal was aborted. */
export async function pullWithLimit(
  { image, sized, clock, signal }: LimitedPull,
  pull: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const bytes = (sized?.layers ?? []).reduce((sum, { size }) => sum + size, 0);
  const limitMs = computePullLimitMs(bytes);
  const limit = new AbortController();
  const cancel = clock.setTimer(limitMs, () => limit.abort(new Error('the pull takes too long')));
  try {
    await pull(AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    if (signal.aborted || !limit.signal.aborted) throw error;
    throw stalled(image, bytes, limitMs, error);
  } finally {
    cancel();
  }
}

function stalled(image: string, bytes: number, limitMs: number, cause: unknown): DaemonError {
  return new DaemonError(
    'SLW_PINNING_STALLED',
    `the pull of ${image} was ended: expected ${formatBytes(bytes)} within ${Math.ceil(limitMs / 60_000)} minutes, and the ` +
      'container runtime was still pulling. The connection to the registry or a mirror stalls, or is too slow. Check it on the ' +
      'machine: crictl pull, journalctl -u crio',
    { cause },
  );
}
