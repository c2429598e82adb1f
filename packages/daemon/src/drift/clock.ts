/** Milliseconds that only grow, and a timer. Tests bring their own. */
export interface Clock {
  now(): number;
  /** Returns the way to cancel it. */
  setTimer(ms: number, fire: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  setTimer(ms, fire) {
    const timer = setTimeout(fire, ms);
    return () => clearTimeout(timer);
  },
};
