// Time that passes only when nothing else is left to do: a rollout of days takes milliseconds, reproducibly.

export interface VirtualTime {
  /** Milliseconds since 1970. */
  now(this: void): number;
  /** Returns a function that cancels it. */
  after(ms: number, happen: () => void): () => void;
  /** Runs events one by one until that time. */
  runUntil(end: number): Promise<void>;
}

interface Due {
  readonly at: number;
  readonly order: number;
  /** Null: cancelled. */
  happen: (() => void) | null;
}

export function createVirtualTime(start: number): VirtualTime {
  const heap: Due[] = [];
  let now = start;
  let count = 0;

  return {
    now: () => now,
    after(ms, happen) {
      const due: Due = { at: now + Math.max(0, ms), order: count, happen };
      count += 1;
      push(heap, due);
      return () => {
        due.happen = null;
      };
    },
    async runUntil(end) {
      // Pending promises run before time advances: setImmediate comes after everything that is settled.
      await settled();
      for (let due = heap[0]; due !== undefined && due.at <= end; due = heap[0]) {
        pop(heap);
        if (due.happen === null) continue;
        now = due.at;
        due.happen();
        await settled();
      }
      now = end;
    },
  };
}

const settled = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

const isBefore = (a: Due, b: Due): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

function push(heap: Due[], due: Due): void {
  let place = heap.length;
  heap.push(due);
  while (place > 0) {
    const parent = (place - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || isBefore(above, due)) break;
    heap[place] = above;
    place = parent;
  }
  heap[place] = due;
}

function pop(heap: Due[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let place = 0;
  for (;;) {
    const child = smallerChild(heap, place);
    const below = heap[child];
    if (below === undefined || isBefore(last, below)) break;
    heap[place] = below;
    place = child;
  }
  heap[place] = last;
}

function smallerChild(heap: readonly Due[], place: number): number {
  const left = 2 * place + 1;
  const [a, b] = [heap[left], heap[left + 1]];
  return a !== undefined && b !== undefined && isBefore(b, a) ? left + 1 : left;
}
