export interface AdmissionLimits {
  /** Responses that are sent concurrently. */
  active: number;
  /** How long a response occupies its slot. A slower one continues, and the next starts alongside it. */
  turnMs: number;
  /** Responses that may continue past their slot; with one more, the oldest is cut off. */
  late: number;
  /** Requests that may wait for a slot. */
  waiting: number;
  /** How long a request may wait: a client gives up after 10 s without a header. */
  patienceMs: number;
}

/** Callbacks for the fate of a request. */
export interface Waiter {
  /** A slot is free: start the response. */
  begin(): void;
  /** The request has waited so long that its client has given up, or is about to. */
  giveUp(): void;
  /** The response is slow, and too many others are too. */
  cutOff(): void;
}

export interface AdmissionQueue {
  /** Starts the request immediately or when a slot is free; undefined: refused, too many are waiting. */
  enter(visitor: Waiter): Slot | undefined;
  /** Estimated wait for a new request, from recent ones. */
  expectedWaitMs(): number;
  readonly active: number;
  readonly waiting: number;
}

export interface Slot {
  /** The response is complete or its client is gone: the next request starts. */
  leave(): void;
}

interface Entry {
  visitor: Waiter;
  since: number;
}

/**
 * Admits requests in order, a few at a time. It immediately refuses more than it can answer before clients give up: a
 * refused client returns when it is asked to, clients left waiting return in a herd. Slow responses block no slot, and
 * their number is limited by the memory they need.
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
  /** A slot was released while others waited. */
  count(): void;
  /** No request waits: the time to the next slot carries no information. */
  rest(): void;
  msPerTurn(): number;
}

/**
 * How fast slots are released. Slots run concurrently and end in bunches, so a single interval means little: the
 * duration of the last bunch counts. Zero until the first bunch is complete.
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
