// What of a BareMetalHost matters to its drive, as plain data.
import type { BareMetalHost } from '@slipway/api';
import { isPlain, rebootRequests } from '@slipway/fleet/hosts';

export interface HostEntry {
  /** spec.online. */
  readonly shallBeOn: boolean;
  readonly isOn: boolean;
  /** status.provisioning.state, such as externally provisioned; '': nobody has said. */
  readonly state: string;
  /** Somebody has asked for a reboot that was not served yet. */
  readonly rebootAsked: boolean;
  /** Keys of the reboot annotations that hold it off. */
  readonly heldOffBy: readonly string[];
  /** Annotation baremetalhost.metal3.io/paused: nobody touches it. */
  readonly isPaused: boolean;
  /** Annotation baremetalhost.metal3.io/detached: Ironic does not have it. */
  readonly isDetached: boolean;
  readonly isDeleting: boolean;
  /** status.errorMessage; null: nothing is wrong. */
  readonly error: string | null;
}

export function hostEntry({ metadata, spec, status }: BareMetalHost): HostEntry {
  const annotations = metadata.annotations ?? {};
  const reboots = rebootRequests(annotations);
  return {
    shallBeOn: spec?.online === true,
    isOn: status?.poweredOn === true,
    state: status?.provisioning.state ?? '',
    rebootAsked: reboots.some(isPlain),
    heldOffBy: reboots.filter((each) => !isPlain(each)).map(({ key }) => key),
    isPaused: 'baremetalhost.metal3.io/paused' in annotations,
    isDetached: 'baremetalhost.metal3.io/detached' in annotations,
    isDeleting: metadata.deletionTimestamp !== undefined,
    error: status?.errorMessage || null,
  };
}
