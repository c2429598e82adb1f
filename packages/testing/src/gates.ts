// Feature gates that a test turns on and off.
import type { Gates } from '@slipway/kube';

export interface FakeGates extends Gates {
  /** Sets one gate, or all gates together, and notifies listeners. */
  turn(this: void, on: boolean, gate?: string): void;
}

/** Every gate on or off; or some of them by name, with all others off. */
export function createFakeGates(initial: boolean | Readonly<Record<string, boolean>> = true): FakeGates {
  const listeners = new Set<() => void>();
  let others = typeof initial === 'boolean' && initial;
  const named = new Map(typeof initial === 'boolean' ? [] : Object.entries(initial));
  return {
    isOn: (gate) => named.get(gate) ?? others,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    turn(on, gate) {
      if (gate !== undefined) named.set(gate, on);
      else {
        named.clear();
        others = on;
      }
      for (const listener of listeners) listener();
    },
  };
}
