import type { StandInState } from './stand-in-state.ts';

export interface StandInResult {
  readonly status?: number;
  readonly stdout?: string;
  readonly stderr?: string;
  /** Set if something has changed. */
  readonly state?: StandInState;
}

/** Fails like rpm-ostree and bootc: one line `error: …`, and status 1 by default. */
export class Failed extends Error {
  override readonly name = 'Failed';
  readonly status: number;

  constructor(message: string, status = 1) {
    super(message);
    this.status = status;
  }
}
