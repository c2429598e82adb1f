// The parts of a BareMetalHost that matter for its virtual drive, as plain data.
import type { BareMetalHost, DataImage } from '@slipway/api';
import { isPlain, rebootRequests } from '../hosts/memory.ts';

export interface HostEntry {
  /** spec.online. */
  readonly shallBeOn: boolean;
  readonly isOn: boolean;
  /** status.provisioning.state, such as externally provisioned; '': not reported. */
  readonly state: string;
  /** A reboot was requested and has not happened yet. */
  readonly rebootAsked: boolean;
  /** Keys of the reboot annotations that keep it powered off. */
  readonly heldOffBy: readonly string[];
  /** Annotation baremetalhost.metal3.io/paused: no controller changes it. */
  readonly isPaused: boolean;
  /** Annotation baremetalhost.metal3.io/detached: Ironic does not manage it. */
  readonly isDetached: boolean;
  readonly isDeleting: boolean;
  /** status.errorMessage; null: no error. */
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

// DataImages and their hosts as plain data. `slipway dataimage status -o json` prints exactly this.

export interface DriveReport {
  /** By namespace and name. */
  readonly dataImages: readonly DriveEntry[];
}

export type DriveState =
  | 'attached'
  | 'attaching'
  | 'detaching'
  /** The drive changes when the host is next powered off; no controller reboots it for that. */
  | 'waits for a reboot'
  /** Retried later; the host stays powered off meanwhile. */
  | 'failed'
  | 'booted without it'
  /** The contents of the drive cannot be determined. */
  | 'not known'
  | 'host not ready'
  | 'unsupported'
  /** No controller has reported on its current spec. */
  | 'not looked at';

export interface DriveEntry {
  readonly namespace: string;
  /** Of the DataImage, and of its host. */
  readonly name: string;
  readonly url: string;
  readonly immediate: boolean;
  readonly isDeleting: boolean;
  readonly state: DriveState;
  /** The reason of condition Attached; null: there is none. */
  readonly reason: string | null;
  /** Its message. */
  readonly message: string;
  /** The verified ISO in the drive; null: none. */
  readonly attached: string | null;
  /** The number of failures in a row, and the last message. */
  readonly failures: { readonly count: number; readonly message: string };
  readonly lastReconciled: string | null;
  /** Null: the BareMetalHost does not exist. */
  readonly host: HostEntry | null;
}

export function driveReport(images: readonly DataImage[], hosts: readonly BareMetalHost[]): DriveReport {
  const hostOf = new Map(hosts.map((host) => [keyOf(host), host]));
  const sorted = [...images].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return { dataImages: sorted.map((image) => driveEntry(image, hostOf.get(keyOf(image)))) };
}

export function driveEntry(image: DataImage, host: BareMetalHost | undefined): DriveEntry {
  const { metadata, spec } = image;
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    url: spec?.url ?? '',
    immediate: spec?.immediate === true,
    isDeleting: metadata.deletionTimestamp !== undefined,
    ...readFindings(image),
    host: host === undefined ? null : hostEntry(host),
  };
}

type Findings = Pick<DriveEntry, 'state' | 'reason' | 'message' | 'attached' | 'failures' | 'lastReconciled'>;

function readFindings(image: DataImage): Findings {
  const { attachedImage, error, lastReconciled } = image.status ?? {};
  const { reason, message } = findAttachedCondition(image);
  return {
    state: computeDriveState(image, reason),
    reason,
    message,
    attached: attachedImage?.url ?? null,
    failures: error ?? { count: 0, message: '' },
    lastReconciled: lastReconciled ?? null,
  };
}

/** According to the last report of the controller, which may not have seen the latest spec. */
export const isInDrive = ({ attached, state }: DriveEntry, url: string): boolean =>
  attached === url && (state === 'attached' || state === 'not looked at');

/** A condition from before the last change of spec does not count. */
function findAttachedCondition({ metadata, status }: DataImage): Pick<DriveEntry, 'reason' | 'message'> {
  const found = status?.conditions?.find(({ type }) => type === 'Attached');
  const isOld = (found?.observedGeneration ?? Infinity) < (metadata.generation ?? 0);
  return found === undefined || isOld ? { reason: null, message: '' } : found;
}

function computeDriveState({ spec, status }: DataImage, reason: string | null): DriveState {
  if (reason !== null) return stateByReason.get(reason) ?? 'not known';
  // Another operator writes no conditions.
  const isOthers = (status?.conditions ?? []).length === 0;
  const { attachedImage } = status ?? {};
  return isOthers && attachedImage !== undefined && attachedImage.url === spec?.url ? 'attached' : 'not looked at';
}

const stateByReason: ReadonlyMap<string, DriveState> = new Map([
  ['Attached', 'attached'],
  ['Pending', 'attaching'],
  ['Attaching', 'attaching'],
  ['Detaching', 'detaching'],
  ['WaitsForReboot', 'waits for a reboot'],
  ['ChangeWaitsForReboot', 'waits for a reboot'],
  ['DetachWaitsForReboot', 'waits for a reboot'],
  ['AttachFailed', 'failed'],
  ['BootedWithoutImage', 'booted without it'],
  ['DriveUnreadable', 'not known'],
  ['NotVerified', 'not known'],
  ['HostNotReady', 'host not ready'],
  ['NoHost', 'host not ready'],
  ['Unsupported', 'unsupported'],
]);

const keyOf = ({ metadata }: DataImage | BareMetalHost): string => `${metadata.namespace ?? ''}/${metadata.name}`;
