import type { Drive, IronicNode, PowerTarget } from './host-step.ts';

/**
 * What Slipway asks of Ironic. Every call that changes something returns when Ironic has said yes; the work itself goes on
 * after that, and is over when the node has no reservation: then its lastError says how it went.
 * What fails is an IronicError; see there for whether it may have been done all the same.
 */
export interface Ironic {
  /** By name or UUID. Null: Ironic does not know it. */
  node(id: string, signal?: AbortSignal): Promise<KnownNode | null>;
  register(wanted: WantedNode, signal?: AbortSignal): Promise<void>;
  /** How to reach the BMC now. */
  update(uuid: string, wanted: Omit<WantedNode, 'name'>, signal?: AbortSignal): Promise<void>;
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

export interface WantedNode {
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
export const nodeNameOf = (namespace: string, name: string): string => `${namespace}~${name}`;
