// How long to wait after failures in a row: as Metal3 users know it for DataImages.

/** 2^9 minutes are eight and a half hours. */
const MOST_DOUBLINGS = 9;

export interface Backoff {
  /** Failures in a row, this one among them. */
  readonly failures: number;
  readonly minuteMs: number;
  /** From 0 up to 1: of the half that may be taken off, so that a hundred hosts do not come back at once. */
  readonly chance: number;
  readonly mostDoublings?: number;
}

/** Milliseconds: 2^failures minutes less up to half of it. */
export function backoffMs({ failures, minuteMs, chance, mostDoublings = MOST_DOUBLINGS }: Backoff): number {
  const whole = 2 ** Math.min(failures, mostDoublings) * minuteMs;
  return Math.round(whole * (1 - chance / 2));
}
