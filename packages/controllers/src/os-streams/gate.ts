// The feature gate of OS image streams, for controllers that work whether it is on or off.
import type { ControllerDef, Gates } from '@slipway/kube';

export const osStreamsGate = 'OSStreams';

export const usesStreams = (gates: Gates | undefined): boolean => gates?.isOn(osStreamsGate) === true;

/** Wakes these keys when a gate is turned. */
export function listenToGates(gates: Gates | undefined, keys: () => Iterable<string>): Pick<ControllerDef, 'listen'> {
  if (gates === undefined) return {};
  return {
    listen: (wake) =>
      gates.onChange(() => {
        for (const key of keys()) wake(key);
      }),
  };
}
