// Reproducible randomness: the same seed returns the same sequence.

export interface Random {
  /** From 0 (inclusive) to 1 (exclusive). */
  next(this: void): number;
  /** An integer from `least` to `most`, both included. */
  int(this: void, least: number, most: number): number;
  chance(this: void, probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** A separate generator, so that draws in one part do not affect another. */
  fork(this: void): Random;
}

/** Mulberry32: 32 bits of state, enough to distinguish a thousand runs. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const int = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick(items) {
      if (items.length === 0) throw new Error('nothing to pick from');
      return items[int(0, items.length - 1)] as (typeof items)[number];
    },
    fork: () => createRandom(int(0, 2 ** 32 - 1)),
  };
}

/** FNV-1a: derives a decision from a name, independent of earlier draws. */
export function hashText(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}
