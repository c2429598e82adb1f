// What a simulated Ironic may do wrong.

/** How likely each fault is, at every call that it can happen to. */
export interface Faults {
  /** The call is done, and its answer lost. */
  readonly cut: number;
  /** The node is locked by somebody else. */
  readonly busy: number;
  /** A yes, and nothing happens. */
  readonly swallowed: number;
  /** A yes, and then an error. */
  readonly failed: number;
  /** What is read is a while old. */
  readonly lag: number;
  /** The drive is read as something that it is not, once. */
  readonly lie: number;
  /** The drive cannot be read. */
  readonly unreadable: number;
  /** Ironic restarts in the middle of its work. */
  readonly restart: number;
}

export const noFaults: Faults = {
  cut: 0,
  busy: 0,
  swallowed: 0,
  failed: 0,
  lag: 0,
  lie: 0,
  unreadable: 0,
  restart: 0,
};
