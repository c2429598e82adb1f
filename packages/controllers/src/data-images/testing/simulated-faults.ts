// The faults of a simulated Ironic.

/** The probability of each fault, for every call that it applies to. */
export interface Faults {
  /** The call takes effect, but its response is lost. */
  readonly cut: number;
  /** Another client has locked the node. */
  readonly busy: number;
  /** A success response without any effect. */
  readonly swallowed: number;
  /** A success response, and then an error. */
  readonly failed: number;
  /** A read returns stale data. */
  readonly lag: number;
  /** The drive is misread once. */
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
