export interface AdmissionLimits {
  /** Answers that are sent at the same time. */
  active: number;
  /** How long an answer counts as one of them. One that takes longer goes on, and the next begins beside it. */
  turnMs: number;
  /** Answers that may go on beyond their turn; with one more, the oldest is cut off. */
  late: number;
  /** Requests that may wait for their turn. */
  waiting: number;
  /** How long a request may wait: a client gives up when it has seen no header for 10 s. */
  patienceMs: number;
}

/** What becomes of a request at the gate. */
export interface Waiter {
  /** Its turn has come. */
  begin(): void;
  /** It has waited so long that its client has given up, or is about to. */
  giveUp(): void;
  /** It takes its time, and too many others do too. */
  cutOff(): void;
}

export interface AdmissionQueue {
  /** Begins at once, or when the turn comes; undefined: refused, there are too many. */
  enter(visitor: Waiter): Slot | undefined;
  /** What somebody who comes now would have to wait, by how it went lately. */
  expectedWaitMs(): number;
  readonly active: number;
  readonly waiting: number;
}

export interface Slot {
  /** Done, or gone: whoever is next begins. */
  leave(): void;
}

interface Entry {
  visitor: Waiter;
  since: number;
}

/**
 * Lets requests through in the order they came, a few at a time. Beyond what can be answered before clients give up,
 * it refuses at once: a client that is told so comes back in order, one that is left waiting comes back in a herd.
 * Who takes long keeps nobody waiting, and there are never more of those than the memory for them allows.
 */
export function createAdmissionQueue(limits: AdmissionLimits): AdmissionQueue {
  const queue = new Set<Entry>();
  const active = new Map<Entry, NodeJS.Timeout>();
  const late = new Set<Entry>();
  const slotRate = createSlotRate(limits.active);

  const expectedWaitMs = (): number => queue.size * slotRate.msPerTurn();

  function admitNext(): void {
    while (active.size < limits.active) {
      const [entry] = queue;
      if (entry === undefined) return slotRate.rest();
      queue.delete(entry);
      if (performance.now() - entry.since > limits.patienceMs) entry.visitor.giveUp();
      else begin(entry);
    }
  }

  function begin(entry: Entry): void {
    active.set(
      entry,
      setTimeout(() => outstay(entry), limits.turnMs),
    );
    entry.visitor.begin();
  }

  function end(entry: Entry): void {
    clearTimeout(active.get(entry));
    if (!active.delete(entry)) return;
    if (queue.size > 0) slotRate.count();
    admitNext();
  }

  function outstay(entry: Entry): void {
    late.add(entry);
    const [oldest] = late;
    if (late.size > limits.late && oldest !== undefined) {
      late.delete(oldest);
      oldest.visitor.cutOff();
    }
    end(entry);
  }

  return {
    enter(visitor) {
      if (queue.size >= limits.waiting || expectedWaitMs() > limits.patienceMs) return undefined;
      const entry = { visitor, since: performance.now() };
      queue.add(entry);
      admitNext();
      return {
        leave() {
          queue.delete(entry);
          late.delete(entry);
          end(entry);
        },
      };
    },
    expectedWaitMs,
    get active() {
      return active.size;
    },
    get waiting() {
      return queue.size;
    },
  };
}

interface SlotRate {
  /** A turn ended while others waited. */
  count(): void;
  /** Nobody waits: the time to the next turn says nothing. */
  rest(): void;
  msPerTurn(): number;
}

/**
 * How fast turns follow each other. Turns run side by side and end in bunches, so single intervals say little: what
 * counts is how long the last bunch took. Zero until one is complete, for nothing is known yet.
 */
function createSlotRate(bunch: number): SlotRate {
  let ms = 0;
  let turns = 0;
  let since: number | undefined;
  return {
    count() {
      const now = performance.now();
      since ??= now;
      turns += 1;
      if (turns <= bunch) return;
      ms = (now - since) / (turns - 1);
      turns = 1;
      since = now;
    },
    rest() {
      turns = 0;
      since = undefined;
    },
    msPerTurn: () => ms,
  };
}
