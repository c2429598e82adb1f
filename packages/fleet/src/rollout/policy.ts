// How a pool wants a new config to reach its machines: its annotations, read.

export interface RolloutPolicy {
  /** Cumulative sizes; the first is the canary. The last is always the whole pool. */
  readonly waves: readonly WaveSize[];
  readonly soakMs: number;
  readonly onFailure: 'halt' | 'return';
  readonly hold: 'until-new-render' | 'until-resume';
}

export type WaveSize = { readonly nodes: number } | { readonly percent: number };

export const defaultRolloutPolicy: RolloutPolicy = {
  waves: [{ nodes: 1 }, { percent: 100 }],
  soakMs: 0,
  onFailure: 'halt',
  hold: 'until-new-render',
};
