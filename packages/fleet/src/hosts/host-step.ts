// What is known of one bare-metal host at a moment, and the one thing to be done next: plain data. A host and its DataImage have
// the same name and are decided on together, so that nobody powers a machine on while its drive is being changed.

/** As Ironic has it. */
export interface IronicNode {
  readonly uuid: string;
  /** enroll, verifying, manageable, adopting, adopt failed, active, … */
  readonly provisionState: string;
  readonly targetProvisionState: string | null;
  /** power on, power off; null: not known. */
  readonly powerState: string | null;
  readonly targetPowerState: string | null;
  /** Somebody works on it: the name of the conductor. */
  readonly reservation: string | null;
  readonly lastError: string | null;
  readonly maintenance: boolean;
  /** Digest of the driver_info that we sent, kept in `extra`: passwords cannot be read back. Null: not made by us. */
  readonly sentDigest: string | null;
}

/** What the BMC says is in the drive. Null where it was not asked. */
export interface Drive {
  readonly inserted: boolean;
  /**
   * As Ironic reports it: mostly its own copy, named after the node, so it does not tell one ISO of ours from another. Empty
   * where the BMC does not say what it holds.
   */
  readonly image: string;
}

export interface HostFacts {
  readonly host: ObservedHost;
  readonly node: IronicNode | null;
  /** Null: it was not asked (it may take minutes where the BMC is down), or could not be. */
  readonly drive: Drive | null;
  /** Why the drive could not be read when it was asked; null: it was not asked, or was read. */
  readonly driveProblem: string | null;
  readonly dataImage: ObservedDataImage | null;
  readonly now: number;
}

/** What of a BareMetalHost counts. */
export interface ObservedHost {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly isDeleting: boolean;
  /** When its deletion was asked for; 0: it was not. */
  readonly deletingSince: number;
  readonly hasFinalizer: boolean;
  readonly online: boolean;
  /** spec.disablePowerOff: it is never switched off by us. */
  readonly isPowerOffDisabled: boolean;
  readonly externallyProvisioned: boolean;
  /** status.provisioning.state. */
  readonly state: string;
  /** status.poweredOn: as whoever manages the host has last written it. */
  readonly poweredOn: boolean;
  /** By annotation baremetalhost.metal3.io/paused, /detached. */
  readonly isPaused: boolean;
  readonly isDetached: boolean;
  /** The detached annotation says so: its deletion waits until that is removed. */
  readonly isDeletionDelayed: boolean;
  /** reboot.metal3.io and reboot.metal3.io/<key>: see reboot-requests.ts. */
  readonly reboots: readonly RebootRequest[];
  readonly bmc: BmcReading;
  /** Another operator owns the host: it is only read. */
  readonly isForeign: boolean;
  /** What we last asked of its node: annotation slipway.dev/host, written before the call that it speaks of. */
  readonly memory: HostMemory | null;
}

export interface HostMemory {
  readonly doing: 'none' | 'update' | 'manage' | 'adopt' | 'power on' | 'power off' | 'soft power off' | 'delete';
  /** Ironic has said yes to it. False: it may never have heard of it. */
  readonly isSent: boolean;
  readonly since: number;
  /** When we last asked for it to be switched on: what is read soon after may be older than that. */
  readonly onSince: number;
  /** Failures in a row, why the last one, and the time before which it is not tried again. */
  readonly failures: number;
  readonly message: string;
  readonly notBefore: number;
}

export interface RebootRequest {
  /** '' for the plain annotation. */
  readonly key: string;
  readonly mode: 'soft' | 'hard';
  /** When ours was put on; 0: it is not ours, or does not say. */
  readonly since: number;
}

export type BmcReading =
  | {
      readonly ok: true;
      /** For Ironic: driver and driver_info without the password. */
      readonly driver: string;
      readonly digest: string;
      /** Whether a non-bootable ISO can be attached through it. */
      readonly nonBootableISOImage: boolean;
    }
  | { readonly ok: false; readonly code: string; readonly message: string };

export interface ObservedDataImage {
  readonly url: string;
  readonly immediate: boolean;
  readonly isDeleting: boolean;
  readonly hasFinalizer: boolean;
  readonly hasOwner: boolean;
  /** status.attachedImage.url; null: none. */
  readonly attachedUrl: string | null;
  readonly errorCount: number;
  /** What we are in the middle of: annotation slipway.dev/data-image, written before the call that it speaks of. */
  readonly memory: DriveMemory | null;
  /** Boot anyway after so many failures; null: never (the default). Annotation slipway.dev/data-image-boot-anyway-after. */
  readonly bootAnywayAfter: number | null;
}

export interface DriveMemory {
  readonly doing: 'attach' | 'detach' | 'none';
  readonly url: string;
  /** Verified: it is in the drive. Only with `none`. */
  readonly isAttached: boolean;
  /** The image string that Ironic reported for our ISO; '' before. Another one in the drive is somebody else's medium. */
  readonly reported: string;
  /** UUID of the node that an attach was last called for, by which Ironic names its copy; '' before the first. */
  readonly node: string;
  /** Ironic has said yes to it. False: it may never have heard of it. */
  readonly isSent: boolean;
  readonly since: number;
  /** Not before this time is the next try. */
  readonly notBefore: number;
  /** Failures in a row and why the last one: here and not in status, so that one write holds all of it. */
  readonly failures: number;
  readonly message: string;
}

/** How fast things go, and what part is ours. */
export interface StepOptions {
  /** Another operator powers the hosts; only their drives are ours. */
  readonly besideOperator: boolean;
  /** How soon something that is under way is looked at again. */
  readonly pollMs: number;
  /** How long an answer may lag behind what was done. */
  readonly settleMs: number;
  /** How long an operating system has to shut down. */
  readonly softOffMs: number;
  /** The minute of the growing delays; shorter in tests. */
  readonly minuteMs: number;
  /** How long a host that is being deleted waits for its drive to be emptied. */
  readonly lastEjectMs: number;
  /** From 0 up to 1: how much of the jitter is taken off a delay. */
  readonly chance: number;
}

export const DEFAULT_STEP_OPTIONS: StepOptions = {
  besideOperator: false,
  pollMs: 2000,
  settleMs: 30_000,
  softOffMs: 180_000,
  minuteMs: 60_000,
  lastEjectMs: 5 * 60_000,
  chance: 0.5,
};

/** Why nothing is done now. */
export type Why =
  /** All is as it shall be. */
  | 'at rest'
  | 'paused'
  /** By annotation: it has no node in Ironic. */
  | 'detached'
  /** Another operator owns the host, or it is not externally provisioned. */
  | 'not ours'
  /** Not (externally) provisioned yet. */
  | 'not provisioned'
  /** bmc.address or its credentials cannot be used. */
  | 'bmc'
  /** Beside another operator: Ironic does not know the host yet. */
  | 'no node'
  /** Somebody works on the node, or an answer may still lag. */
  | 'busy'
  | 'maintenance'
  /** In a state of Ironic that no externally provisioned host can have. */
  | 'node state'
  | 'power unknown'
  /** Somebody's reboot annotation with a key, or spec.online false. */
  | 'kept off'
  /** What failed is tried again later. */
  | 'backoff'
  /** The same for the drive; where the host is off, it is held off. */
  | 'drive backoff'
  | 'drive unreadable'
  /** The drive changes at the next power-off, and nobody reboots by itself. */
  | 'reboot needed';

/**
 * The one thing to be done next. What has `remember` is carried out in this order: the memory is written with the
 * resourceVersion that the facts were read at, so that old facts change nothing; then the call; then what `afterCall` says.
 */
export type HostStep =
  /** Null: until something changes. */
  | { readonly type: 'wait'; readonly why: Why; readonly ms: number | null }
  /**
   * Ask for what is in the drive, then for a step again, with the same facts otherwise. Only what is answered twice in a row
   * counts; answers that differ are a `driveProblem`.
   */
  | { readonly type: 'look' }
  | { readonly type: 'add host finalizer' }
  | { readonly type: 'remove host finalizer' }
  | { readonly type: 'register' }
  /** Send driver_info and its digest again. */
  | { readonly type: 'update node'; readonly remember: HostMemory }
  | { readonly type: 'provision'; readonly target: 'manage' | 'adopt'; readonly remember: HostMemory }
  | { readonly type: 'power'; readonly target: PowerTarget; readonly remember: HostMemory }
  | { readonly type: 'set maintenance'; readonly maintenance: boolean; readonly remember: HostMemory }
  | { readonly type: 'delete node' }
  | { readonly type: 'remember host'; readonly memory: HostMemory }
  /** Remove the plain reboot annotation: it has been served. */
  | { readonly type: 'clear reboot' }
  /** Put on, take off the annotation reboot.metal3.io/slipway. */
  | { readonly type: 'hold off' }
  | { readonly type: 'release hold' }
  /** Finalizer and ownerReference of the DataImage. */
  | { readonly type: 'claim image' }
  | { readonly type: 'release image' }
  | { readonly type: 'attach'; readonly url: string; readonly remember: DriveMemory }
  | { readonly type: 'detach'; readonly remember: DriveMemory }
  | { readonly type: 'remember drive'; readonly memory: DriveMemory };

export type PowerTarget = 'power on' | 'power off' | 'soft power off';

/**
 * What Slipway asks of Ironic. Every call that changes something returns when Ironic has said yes; the work itself goes on
 * after that, and is over when the node has no reservation: then its lastError says how it went.
 * What fails is an IronicError; see there for whether it may have been done all the same.
 */
export interface Ironic {
  /** By name or UUID. Null: Ironic does not know it. */
  node(id: string, signal?: AbortSignal): Promise<KnownNode | null>;
  register(wanted: DesiredNode, signal?: AbortSignal): Promise<void>;
  /** How to reach the BMC now. */
  update(uuid: string, wanted: Omit<DesiredNode, 'name'>, signal?: AbortSignal): Promise<void>;
  provision(uuid: string, target: 'manage' | 'adopt', signal?: AbortSignal): Promise<void>;
  power(uuid: string, target: PowerTarget, options?: PowerOptions): Promise<void>;
  setMaintenance(uuid: string, maintenance: boolean, signal?: AbortSignal): Promise<void>;
  /** Fine where it is gone already. An active node has to be in maintenance first. */
  remove(uuid: string, signal?: AbortSignal): Promise<void>;
  /** Asks the BMC, which takes its time where it is down. */
  drive(uuid: string, signal?: AbortSignal): Promise<Drive>;
  attach(uuid: string, url: string, signal?: AbortSignal): Promise<void>;
  /** Fine where nothing is attached. */
  detach(uuid: string, signal?: AbortSignal): Promise<void>;
  /** Ends what is under way with SLW_IRONIC_CLOSED. */
  close(): Promise<void>;
}

export interface KnownNode extends IronicNode {
  /** Of the BareMetalHost that we made it for. Null: not made by us. */
  readonly hostUid: string | null;
}

export interface DesiredNode {
  readonly name: string;
  readonly driver: string;
  /** With the password. */
  readonly driverInfo: Readonly<Record<string, string | boolean>>;
  readonly hostUid: string;
  readonly digest: string;
}

export interface PowerOptions {
  /** How long the machine may take. Without it Ironic waits ten minutes for a soft power off, with the node locked. */
  readonly withinMs?: number;
  readonly signal?: AbortSignal;
}

export interface IronicOptions {
  /** Such as https://ironic.example:6385; a `/v1` at its end is left out. */
  readonly url: string;
  /** Authorities in PEM besides those of the system. */
  readonly ca?: string | undefined;
  readonly auth?: IronicAuth | undefined;
  /** For each call, from the first byte sent to the last received. Default: half a minute. */
  readonly timeoutMs?: number;
  /** For looking into a drive, for which Ironic asks the BMC. Default: two minutes. */
  readonly driveTimeoutMs?: number;
  /** How often a call is made again that finds the node locked. Default: 4, which takes up to 4 seconds. */
  readonly conflictRetries?: number;
}

export interface IronicAuth {
  readonly username: string;
  readonly password: string;
}

/** As Metal3 names it, so that either can take over from the other. */
export const formatNodeName = (namespace: string, name: string): string => `${namespace}~${name}`;
