/** Time as the runtime sees it: monotonic milliseconds and a timer. Tests bring their own. */
export interface Clock {
  now(): number;
  /** Returns the way to cancel it. */
  setTimer(ms: number, fire: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  setTimer(ms, fire) {
    // Node fires a timer beyond 2^31-1 ms at once.
    const timer = setTimeout(fire, Math.min(Math.max(0, ms), 2_147_483_647));
    return () => clearTimeout(timer);
  },
};
