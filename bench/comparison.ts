export interface Comparison {
  bench: string;
  metric: string;
  unit: string;
  ours: number;
  theirs: number;
  /** How many times better ours is: 2 means twice as fast, or half the memory. */
  ratio: number;
}

const round = (value: number): number => Math.round(value * 100) / 100;

export function compare(
  bench: string,
  metric: string,
  unit: string,
  better: 'less' | 'more',
  sides: { ours: number; theirs: number },
): Comparison {
  const { ours, theirs } = sides;
  const ratio = better === 'less' ? theirs / ours : ours / theirs;
  return { bench, metric, unit, ours: round(ours), theirs: round(theirs), ratio: round(ratio) };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
