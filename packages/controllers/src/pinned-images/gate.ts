// The feature gate of pinned images, for controllers that work whether it is on or off.
import { type MachineConfigPool, pinSummaryAnnotation } from '@slipway/api';
import { decodeSummary, type PinSummary } from '@slipway/fleet';
import type { Gates } from '@slipway/kube';

export const pinnedImagesGate = 'PinnedImages';

export const pinsImages = (gates: Gates | undefined): boolean => gates?.isOn(pinnedImagesGate) === true;

/** What the controllers of pinned images leave on a pool for who writes its status. */
export function pinSummaryOf({ metadata }: MachineConfigPool): PinSummary | null {
  const annotation = metadata.annotations?.[pinSummaryAnnotation];
  return annotation === undefined ? null : decodeSummary(annotation);
}
