import type { StandInState } from './stand-in-state.ts';

export interface StandInResult {
  readonly status?: number;
  readonly stdout?: string;
  readonly stderr?: string;
  /** Where something has changed. */
  readonly state?: StandInState;
}

/** As rpm-ostree and bootc end: one line `error: …`, and 1 unless told. */
export class Failed extends Error {
  override readonly name = 'Failed';
  readonly status: number;

  constructor(message: string, status = 1) {
    super(message);
    this.status = status;
  }
}
