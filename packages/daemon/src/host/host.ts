// What the daemon does to a machine: one interface, for real hosts and for the simulated one.
import type { Owner } from '@slipway/fleet';
import type { ContainerRuntime, ImageStore } from './container-runtime.ts';
import type { FileSystem, Owners } from './file-system.ts';

export interface Host {
  /** For people: `rpm-ostree`, `bootc`, `simulated`. */
  readonly kind: string;
  readonly files: FileSystem;
  readonly systemd: Systemd;
  readonly os: OperatingSystem;
  readonly accounts: Accounts;
  readonly containers: ContainerRuntime;
  /** Another one after every boot. */
  bootId(): Promise<string>;
  /** Resolves when the machine has taken the request; it then goes down at any moment. Asking twice is harmless. */
  reboot(why: string): Promise<void>;
}

/** Each rejects with a DaemonError that says which unit, and what the service manager said. */
export interface Systemd {
  /** As `systemctl is-enabled` says it: enabled, disabled, static, masked, …; `not-found` for a unit that is not there. */
  enablement(unit: string): Promise<string>;
  /** Doing one of these again changes nothing. Of units that are not there: `enable` rejects, the others do nothing. */
  enable(units: readonly string[]): Promise<void>;
  /** Removes every link to the units, also those that an earlier [Install] asked for. */
  disable(units: readonly string[]): Promise<void>;
  preset(units: readonly string[]): Promise<void>;
  daemonReload(): Promise<void>;
  reload(unit: string): Promise<void>;
  /** Resolves when the unit is active, or has ended well where it is a oneshot. Rejects with its last lines of log. */
  restart(unit: string): Promise<void>;
}

/** One deployment of the OS. */
export interface Deployment {
  /** As osImageURL has it: without scheme and transport. '' where the OS did not come from an image. */
  readonly image: string;
  /** sha256:…, where it is known. */
  readonly digest: string;
  readonly version: string;
  /** In their order; what the OS itself needs (root=…) included, but not ostree=…, which is another one after many a boot. */
  readonly kernelArguments: readonly string[];
  /** Asked for beside those of the image. */
  readonly packages: readonly string[];
  /** Tells it from one with the same names, such as packages of another version; left out where the host has none. */
  readonly checksum?: string;
}

export interface OSState {
  readonly booted: Deployment;
  /** What the next boot brings, where it is another one. */
  readonly staged: Deployment | null;
}

/** What is to differ from what the machine is booted with. What is left out stays. */
export interface OSChange {
  readonly image?: string;
  /** Each of `removed` once, then `added` in their order. `all` are those of the configs, for a machine that takes only the whole set. */
  readonly kernelArguments?: {
    readonly removed: readonly string[];
    readonly added: readonly string[];
    readonly all?: { readonly before: readonly string[]; readonly after: readonly string[] };
  };
  /** All that are wanted in the end, as the MachineConfig names them (usbguard, kernel-devel, …), and those before. */
  readonly extensions?: { readonly before: readonly string[]; readonly after: readonly string[] };
  readonly kernelType?: { readonly before: string; readonly after: string };
  /** Where packages of extensions and kernels come from; '' : none is needed. */
  readonly extensionsImage?: string;
}

export interface Progress {
  /** For people: one line. */
  readonly text: string;
  readonly done?: number;
  readonly total?: number;
}

export interface OperatingSystem {
  describe(): Promise<{ readonly name: string; readonly version: string }>;
  state(): Promise<OSState>;
  /** undefined: the machine does not say. */
  fips(): Promise<boolean | undefined>;
  /** Those of the images that `prefetch` would download: none where the OS downloads for itself, when it changes. */
  missing(images: readonly string[]): Promise<readonly string[]>;
  /** The file system that `prefetch` downloads to. */
  store(): Promise<ImageStore>;
  /** Downloads what `stage` will need, and changes nothing else. An image that is there already costs nothing. */
  prefetch(images: readonly string[], onProgress: (progress: Progress) => void, signal: AbortSignal): Promise<void>;
  /** For the next boot, from the booted deployment on: what was staged before is discarded. Doing it again is the same. */
  stage(change: OSChange): Promise<void>;
  /** The next boot is as this one. Nothing staged: nothing happens. */
  discard(): Promise<void>;
}

export interface Accounts {
  /** By number or by the machine's own files. Rejects with a DaemonError that names who is not there. */
  owners(user: Owner, group: Owner): Promise<Owners>;
  /** undefined: there is no such user. */
  home(user: string): Promise<(Owners & { readonly path: string }) | undefined>;
  /** The second field of /etc/shadow; undefined: there is no such user. */
  passwordHash(user: string): Promise<string | undefined>;
  setPasswordHash(user: string, hash: string): Promise<void>;
}
