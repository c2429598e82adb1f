// What the daemon does to a machine: one interface for real and simulated hosts.
import type { OSChange, OSFacts, Owner } from '@slipway/fleet';
import type { ContainerRuntime, ImageStore } from './container-runtime.ts';
import type { FileSystem, Owners } from './file-system.ts';

export type { OSChange };

export interface Host {
  /** Human-readable: `rpm-ostree`, `bootc`, `simulated`. */
  readonly kind: string;
  readonly files: FileSystem;
  readonly systemd: Systemd;
  readonly os: OperatingSystem;
  readonly accounts: Accounts;
  readonly containers: ContainerRuntime;
  /** What stays on the machine. */
  readonly details: Details;
  /** Changes with every boot. */
  bootId(): Promise<string>;
  /** Resolves when the request is accepted; the machine then goes down at any moment. A second request is harmless. */
  reboot(why: string): Promise<void>;
}

export interface Details {
  /** Keeps a text that must not leave the machine. Never rejects: a machine without a journal only lacks the text. */
  keep(title: string, text: string): Promise<void>;
}

/** Every method rejects with a DaemonError that names the unit and quotes systemd. */
export interface Systemd {
  /**
   * The output of `systemctl is-enabled`: enabled, disabled, static, masked, …; `not-found` if the unit does not exist.
   */
  enablement(unit: string): Promise<string>;
  /** These are idempotent. If a unit does not exist, `enable` rejects and the others do nothing. */
  enable(units: readonly string[]): Promise<void>;
  /** Removes every link to the units, including those of an earlier [Install] section. */
  disable(units: readonly string[]): Promise<void>;
  preset(units: readonly string[]): Promise<void>;
  daemonReload(): Promise<void>;
  reload(unit: string): Promise<void>;
  /** Resolves when the unit is active, or a oneshot has succeeded. Its log stays on the machine. */
  restart(unit: string): Promise<void>;
}

/** One deployment of the OS. */
export interface Deployment {
  /** In the form of osImageURL: without scheme and transport. '' if the OS was not installed from an image. */
  readonly image: string;
  /** sha256:…, if it is known. */
  readonly digest: string;
  readonly version: string;
  /** In order, including those that the OS needs (root=…), but without ostree=…, which changes between boots. */
  readonly kernelArguments: readonly string[];
  /** Packages requested in addition to those of the image. */
  readonly packages: readonly string[];
  /**
   * Distinguishes deployments with the same names, for example with packages of another version. Left out if the host
   * has none.
   */
  readonly checksum?: string;
}

export interface OSState {
  readonly booted: Deployment;
  /** The deployment of the next boot, if it is another one. */
  readonly staged: Deployment | null;
}

export interface Progress {
  /** Human-readable, one line. */
  readonly text: string;
  readonly done?: number;
  readonly total?: number;
}

export interface OperatingSystem {
  describe(): Promise<{ readonly name: string; readonly version: string }>;
  state(): Promise<OSState>;
  /** What is known about it before a change. */
  facts(): Promise<OSFacts>;
  /** Whether the kernel runs in FIPS mode. Null: it was built without it. */
  fips(): Promise<boolean | null>;
  /** The images that `prefetch` would download. Empty if the OS tool downloads only during the change. */
  missing(images: readonly string[]): Promise<readonly string[]>;
  /** The file system that `prefetch` downloads to. */
  store(): Promise<ImageStore>;
  /** Downloads what `stage` needs, and changes nothing else. Images that are present are skipped. */
  prefetch(images: readonly string[], onProgress: (progress: Progress) => void, signal: AbortSignal): Promise<void>;
  /**
   * Stages the change for the next boot, based on the booted deployment. Earlier staged changes are discarded.
   * Idempotent.
   */
  stage(change: OSChange): Promise<void>;
  /** Makes the next boot the same as this one. Does nothing if nothing is staged. */
  discard(): Promise<void>;
}

export interface Accounts {
  /**
   * Resolves numbers, or names from the machine's files. Rejects with a DaemonError that names the missing user or
   * group.
   */
  owners(user: Owner, group: Owner): Promise<Owners>;
  /** Undefined: there is no such user. */
  home(user: string): Promise<(Owners & { readonly path: string }) | undefined>;
  /** The second field of /etc/shadow. Undefined: there is no such user. */
  passwordHash(user: string): Promise<string | undefined>;
  setPasswordHash(user: string, hash: string): Promise<void>;
}
