// A simulation: one versioned BareMetalHost and its DataImage, as in an API server, next to a simulated Ironic.
import type { ObservedDataImage, ObservedHost } from '@slipway/fleet/hosts';
import type { Random } from '@slipway/testing/random';
import { SimulatedIronic } from './simulated-ironic.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };
export interface Stored<T> {
  readonly version: number;
  readonly object: T;
}

/** The maximum lag of a watch. */
const MAX_STALE_MS = 5000;

export interface WorldSnapshot {
  readonly host: Stored<ObservedHost> | null;
  readonly image: Stored<ObservedDataImage> | null;
}

export class SimulatedWorld {
  readonly ironic: SimulatedIronic;
  host: Stored<ObservedHost> | null;
  image: Stored<ObservedDataImage> | null = null;
  digest = 'good';
  /**
   * What a reader saw before the last write of a user. Our own writes are always visible, as the runtime waits for
   * them.
   */
  private older: WorldSnapshot | null = null;
  private writtenAt = 0;
  private detachedAt = -MAX_STALE_MS;
  private versions = 0;

  constructor(random: Random) {
    this.ironic = new SimulatedIronic(random);
    this.host = this.stored(newHost());
  }

  private stored<T>(object: T): Stored<T> {
    this.versions += 1;
    return { version: this.versions, object };
  }

  read(isStale: boolean): WorldSnapshot {
    const isOlder = isStale && this.older !== null && this.ironic.now <= this.writtenAt + MAX_STALE_MS;
    return isOlder && this.older !== null ? this.older : { host: this.host, image: this.image };
  }

  private keepOlder(): void {
    this.older = { host: this.host, image: this.image };
    this.writtenAt = this.ironic.now;
  }

  /** A user writes. */
  userChangesHost(change: Partial<Writable<ObservedHost>>): void {
    if (this.host === null) return;
    if (this.host.object.isDetached) this.detachedAt = this.ironic.now;
    this.keepOlder();
    this.host = this.stored({ ...this.host.object, ...change });
  }

  operatorChangesHost(change: Partial<Writable<ObservedHost>>): void {
    this.userChangesHost(change);
  }

  userChangesImage(change: Partial<Writable<ObservedDataImage>> | null): void {
    this.keepOlder();
    if (change !== null && this.image !== null) this.image = this.stored({ ...this.image.object, ...change });
    else if (change !== null) this.image = this.stored({ ...newImage, ...change });
    else if (this.image?.object.hasFinalizer === true)
      this.image = this.stored({ ...this.image.object, isDeleting: true });
    else this.image = null;
  }

  /** We write, based on what we read. False: that was stale, and nothing is written. */
  writeHost(read: Stored<ObservedHost> | null, change: Partial<Writable<ObservedHost>>): boolean {
    if (this.host === null || read?.version !== this.host.version) return false;
    this.host = this.stored({ ...this.host.object, ...change });
    this.older = null;
    if (this.host.object.isDeleting && !this.host.object.hasFinalizer) this.hostIsGone();
    return true;
  }

  writeImage(read: Stored<ObservedDataImage> | null, change: Partial<Writable<ObservedDataImage>>): boolean {
    if (this.image === null || read?.version !== this.image.version) return false;
    this.image = this.stored({ ...this.image.object, ...change });
    this.older = null;
    if (this.image.object.isDeleting && !this.image.object.hasFinalizer) this.imageIsGone();
    return true;
  }

  private hostIsGone(): void {
    this.ironic.tell('the host is gone');
    if (this.ironic.hasNode) this.ironic.violate('a host gone, and its node still in Ironic');
    this.host = null;
    // Its owner is gone.
    if (this.image?.object.hasOwner === true) this.userChangesImage(null);
  }

  private imageIsGone(): void {
    this.ironic.tell('the DataImage is gone');
    this.image = null;
    const { medium } = this.ironic;
    if (medium === null || medium.url === null) return;
    // An attach in this very moment may be too late.
    const wasDetached = this.ironic.now <= this.detachedAt + MAX_STALE_MS;
    const isOutOfReach = this.host === null || this.host.object.isDetached || wasDetached;
    if (!isOutOfReach) this.ironic.violate(`a DataImage gone, and ${medium.url} still in the drive`);
    // From here on it has no owner.
    this.ironic.medium = { ...medium, url: null };
  }
}

const newHost = (): ObservedHost => ({
  namespace: 'metal',
  name: 'worker-0',
  uid: 'uid-1',
  isDeleting: false,
  deletingSince: 0,
  hasFinalizer: false,
  online: true,
  isPowerOffDisabled: false,
  externallyProvisioned: true,
  state: '',
  poweredOn: false,
  isPaused: false,
  isDetached: false,
  isDeletionDelayed: false,
  reboots: [],
  bmc: { ok: false, code: '', message: '' },
  isForeign: false,
  memory: null,
});

const newImage: ObservedDataImage = {
  url: '',
  immediate: false,
  isDeleting: false,
  hasFinalizer: false,
  hasOwner: false,
  attachedUrl: null,
  errorCount: 0,
  memory: null,
  bootAnywayAfter: null,
  refusal: null,
};
