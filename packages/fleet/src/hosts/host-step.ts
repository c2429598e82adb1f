// The facts about one bare-metal host, and its one next step: plain data. A host and its DataImage have the same name
// and are decided together, so that the machine is never powered on while its drive changes.

/** The node as Ironic reports it. */
export interface IronicNode {
  readonly uuid: string;
  /** enroll, verifying, manageable, adopting, adopt failed, active, … */
  readonly provisionState: string;
  readonly targetProvisionState: string | null;
  /** power on, power off; null: unknown. */
  readonly powerState: string | null;
  readonly targetPowerState: string | null;
  /** The name of the conductor that has locked the node. */
  readonly reservation: string | null;
  readonly lastError: string | null;
  readonly maintenance: boolean;
  /** Digest of the driver_info that we sent, in `extra`: passwords cannot be read back. Null: not created by us. */
  readonly sentDigest: string | null;
}

/** The medium in the drive, as the BMC reports it. Null if not read. */
export interface Drive {
  readonly inserted: boolean;
  /**
   * As Ironic reports it: usually its copy, named after the node, which does not distinguish our ISOs. Empty if the BMC
   * does not report a name.
   */
  readonly image: string;
}

export interface HostFacts {
  readonly host: ObservedHost;
  readonly node: IronicNode | null;
  /** Null: not read (this may take minutes if the BMC is down), or unreadable. */
  readonly drive: Drive | null;
  /** Why the drive could not be read; null: it was read, or not tried. */
  readonly driveProblem: string | null;
  readonly dataImage: ObservedDataImage | null;
  readonly now: number;
}

/** The relevant fields of a BareMetalHost. */
export interface ObservedHost {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly isDeleting: boolean;
  /** When its deletion was requested; 0: never. */
  readonly deletingSince: number;
  readonly hasFinalizer: boolean;
  readonly online: boolean;
  /** spec.disablePowerOff: we never power it off. */
  readonly isPowerOffDisabled: boolean;
  readonly externallyProvisioned: boolean;
  /** status.provisioning.state. */
  readonly state: string;
  /** status.poweredOn, as last written by the manager of the host. */
  readonly poweredOn: boolean;
  /** From the annotations baremetalhost.metal3.io/paused and /detached. */
  readonly isPaused: boolean;
  readonly isDetached: boolean;
  /** The detached annotation requests it: deletion waits until that is removed. */
  readonly isDeletionDelayed: boolean;
  /** reboot.metal3.io and reboot.metal3.io/<key>: see memory.ts. */
  readonly reboots: readonly RebootRequest[];
  readonly bmc: BmcReading;
  /** Another operator owns the host: we only read it. */
  readonly isForeign: boolean;
  /** Our last request for its node: annotation slipway.dev/host, written before the call. */
  readonly memory: HostMemory | null;
}

export interface HostMemory {
  readonly doing: 'none' | 'update' | 'manage' | 'adopt' | 'power on' | 'power off' | 'soft power off' | 'delete';
  /** Ironic accepted it. False: Ironic may never have received it. */
  readonly isSent: boolean;
  readonly since: number;
  /** When we last requested power on: data that is read soon after may be older. */
  readonly onSince: number;
  /** Consecutive failures, the reason of the last one, and the earliest time of the next try. */
  readonly failures: number;
  readonly message: string;
  readonly notBefore: number;
}

export interface RebootRequest {
  /** '' for the plain annotation. */
  readonly key: string;
  readonly mode: 'soft' | 'hard';
  /** When we set it; 0: set by another client, or not specified. */
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
  /** The operation in progress: annotation slipway.dev/data-image, written before the call. */
  readonly memory: DriveMemory | null;
  /** Boot anyway after this many failures; null: never. Annotation slipway.dev/data-image-boot-anyway-after. */
  readonly bootAnywayAfter: number | null;
  /** Why Ironic must not fetch from the URL; null: it may. */
  readonly refusal: string | null;
}

export interface DriveMemory {
  readonly doing: 'attach' | 'detach' | 'none';
  readonly url: string;
  /** Verified: it is in the drive. Only with `none`. */
  readonly isAttached: boolean;
  /** The image string that Ironic reported for our ISO; '' before. Any other medium in the drive is foreign. */
  readonly reported: string;
  /** UUID of the node of the last attach call, by which Ironic names its copy; '' before the first. */
  readonly node: string;
  /** Ironic accepted it. False: Ironic may never have received it. */
  readonly isSent: boolean;
  readonly since: number;
  /** The earliest time of the next try. */
  readonly notBefore: number;
  /** Consecutive failures and the last reason: here and not in status, so that one write covers everything. */
  readonly failures: number;
  readonly message: string;
}

/** Timings, and what Slipway manages. */
export interface StepOptions {
  /** Another operator controls the power of hosts; we only manage their drives. */
  readonly besideOperator: boolean;
  /** Requeue interval for an operation in progress. */
  readonly pollMs: number;
  /** How long a report may lag behind an operation. */
  readonly settleMs: number;
  /** How long an operating system has to shut down. */
  readonly softOffMs: number;
  /** The minute of the exponential backoff; shorter in tests. */
  readonly minuteMs: number;
  /** How long the deletion of a host waits for its drive to be emptied. */
  readonly lastEjectMs: number;
  /** From 0 to 1: the share of the jitter that is subtracted from a delay. */
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

/** Why there is nothing to do now. */
export type Why =
  /** Everything is as desired. */
  | 'at rest'
  | 'paused'
  /** By annotation: it has no node in Ironic. */
  | 'detached'
  /** Another operator owns the host, or it is not externally provisioned. */
  | 'not ours'
  /** Not (externally) provisioned yet. */
  | 'not provisioned'
  /** bmc.address or its credentials are unusable. */
  | 'bmc'
  /** Alongside another operator: Ironic does not know the host yet. */
  | 'no node'
  /** Another client uses the node, or its report may still lag. */
  | 'busy'
  | 'maintenance'
  /** In an Ironic state that no externally provisioned host can have. */
  | 'node state'
  | 'power unknown'
  /** A reboot annotation with a key, or spec.online false. */
  | 'kept off'
  /** A failed operation is retried later. */
  | 'backoff'
  /** The same for the drive; if the host is off, it stays off. */
  | 'drive backoff'
  | 'drive unreadable'
  /** The drive changes at the next power-off, and Slipway does not reboot the host. */
  | 'reboot needed';

/**
 * The one next step. A step with `remember` is executed in this order: write the memory with the resourceVersion of the
 * facts, so that stale facts change nothing; then call Ironic; then write what `afterCall` returns.
 */
export type HostStep =
  /** Null: until something changes. */
  | { readonly type: 'wait'; readonly why: Why; readonly ms: number | null }
  /**
   * Read the drive, then decide again with otherwise the same facts. Only two equal readings in a row count; different
   * ones are a `driveProblem`.
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
  /** Set or remove the annotation reboot.metal3.io/slipway. */
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
 * The operations of Ironic that Slipway uses. A call that changes something returns once Ironic has accepted it; the
 * work continues until the node has no reservation, and then its lastError reports the result. Failures are
 * IronicErrors, which state whether the change may have happened anyway.
 */
export interface Ironic {
  /** By name or UUID. Null: not in Ironic. */
  node(id: string, signal?: AbortSignal): Promise<KnownNode | null>;
  register(wanted: DesiredNode, signal?: AbortSignal): Promise<void>;
  /** Updates how to reach the BMC. */
  update(uuid: string, wanted: Omit<DesiredNode, 'name'>, signal?: AbortSignal): Promise<void>;
  provision(uuid: string, target: 'manage' | 'adopt', signal?: AbortSignal): Promise<void>;
  power(uuid: string, target: PowerTarget, options?: PowerOptions): Promise<void>;
  setMaintenance(uuid: string, maintenance: boolean, signal?: AbortSignal): Promise<void>;
  /** Succeeds if it is already gone. An active node must be in maintenance first. */
  remove(uuid: string, signal?: AbortSignal): Promise<void>;
  /** Queries the BMC, which is slow if it is down. */
  drive(uuid: string, signal?: AbortSignal): Promise<Drive>;
  attach(uuid: string, url: string, signal?: AbortSignal): Promise<void>;
  /** Succeeds if nothing is attached. */
  detach(uuid: string, signal?: AbortSignal): Promise<void>;
  /** Ends all calls in progress with SLW_IRONIC_CLOSED. */
  close(): Promise<void>;
}

export interface KnownNode extends IronicNode {
  /** UID of the BareMetalHost that we created it for. Null: not created by us. */
  readonly hostUid: string | null;
}

export interface DesiredNode {
  readonly name: string;
  readonly driver: string;
  /** Includes the password. */
  readonly driverInfo: Readonly<Record<string, string | boolean>>;
  readonly hostUid: string;
  readonly digest: string;
}

export interface PowerOptions {
  /** Timeout of the machine. By default Ironic waits ten minutes for a soft power off, with the node locked. */
  readonly withinMs?: number;
  readonly signal?: AbortSignal;
}

export interface IronicOptions {
  /** For example https://ironic.example:6385; a trailing `/v1` is removed. */
  readonly url: string;
  /** CAs in PEM, in addition to those of the system. */
  readonly ca?: string | undefined;
  readonly auth?: IronicAuth | undefined;
  /** For each call, from the first byte sent to the last one received. Default: half a minute. */
  readonly timeoutMs?: number;
  /** For reading a drive, for which Ironic queries the BMC. Default: two minutes. */
  readonly driveTimeoutMs?: number;
  /** How often to retry a call that finds the node locked. Default: 4, which takes up to 4 seconds. */
  readonly conflictRetries?: number;
}

export interface IronicAuth {
  readonly username: string;
  readonly password: string;
}

/** The same name that Metal3 uses, so that either can take over. */
export const formatNodeName = (namespace: string, name: string): string => `${namespace}~${name}`;
