import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareAudit } from './audit-policy.ts';
import { apiServerArguments, controllerManagerArguments, etcdArguments } from './arguments.ts';
import { resolveBinaries } from './binaries.ts';
import { claimDataDir, type DataDir } from './data-dir.ts';
import type { ToolsError } from './errors.ts';
import { layout, type Layout } from './layout.ts';
import { recordHistory, rememberObjects, type RememberedObjects, type StorageHistory } from './objects.ts';
import {
  preparePki,
  replaceServingAuthority,
  writeAdminKubeconfig,
  writeControllerManagerKubeconfig,
  writeUserKubeconfig,
  type Pki,
  type User,
} from './pki.ts';
import { pickFreePort, requireFreePort } from './ports.ts';
import { endProgram, killProgram, markReady, startProgram, type Program } from './program.ts';
import type { ProgramName } from './programs.ts';
import type { Progress } from './progress.ts';
import { diedError, waitUntilReady, waitUntilServing } from './readiness.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

export interface ControlPlaneOptions {
  /** The data directory. By default a temporary one, removed with the control plane. */
  dataDir?: string;
  /** The API server's port. By default a free one. */
  port?: number;
  /** Start with an empty cluster and new certificates. */
  fresh?: boolean;
  /** Start with the objects of this data directory, whose control plane has stopped. Only without `dataDir`. */
  copyOf?: string;
  /** Let etcd sync to disk. If off, a power failure may lose the data, and everything is faster. */
  durable?: boolean;
  /** Also run kube-controller-manager: garbage collection and namespace deletion. */
  controllerManager?: boolean;
  /** Record every request, its user and its result in `auditLog`. */
  audit?: boolean;
  /** Further flags of kube-apiserver. */
  apiServerFlags?: readonly string[];
  /** Paths of programs; the others are resolved. */
  binaries?: Partial<Record<ProgramName, string>>;
  progress?: Progress;
}

export interface ControlPlane {
  url: string;
  port: number;
  dataDir: string;
  /** The administrator's kubeconfig. */
  kubeconfig: string;
  /** The authority's certificate, as PEM. */
  ca: string;
  /** The file with the authority's certificate and key. */
  caKeyPath: string;
  /** The file with the key that signs service account tokens. */
  serviceAccountKeyPath: string;
  /** With `audit`: one line of JSON per completed request. */
  auditLog: string;
  pids: () => Record<string, number>;
  /** Writes a kubeconfig with a client certificate for this user and returns its path. */
  kubeconfigFor(who: User): Promise<string>;
  /** Takes a snapshot of all objects, to restore later. */
  rememberObjects(): Promise<RememberedObjects>;
  /** Records everything that the API server stores from now on. */
  recordHistory(): Promise<StorageHistory>;
  /** SIGKILL, like a crash. */
  killApiServer(): Promise<void>;
  /** Restarts on the same port and data; returns when it is ready. */
  startApiServer(): Promise<void>;
  /** Restarts it with a certificate of a new authority, and returns the authority's certificate. Clients stay valid. */
  rotateAuthority(): Promise<string>;
  /** Resolves when a program dies unexpectedly. */
  failed: Promise<ToolsError>;
  /** Stops everything. Idempotent. */
  stop(): Promise<void>;
}

const ETCD_GRACE_MS = 10_000;
// A short-lived server may use more memory and collect garbage less often: it starts in a quarter less time.
const TEMPORARY_ENV = { GOGC: '400', GOMEMLIMIT: '2GiB' };

/** Starts etcd and kube-apiserver and returns when they are ready. Call stop() at the end. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binaries = await completeBinaries(options);
  const temporary = options.dataDir === undefined;
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'slipway-')));
  const claimed = await claimDataDir(dataDir, options.fresh === true);
  const launch = new Launch(claimed, binaries, temporary);
  try {
    return await launch.start(options);
  } catch (error) {
    await launch.stop();
    throw error;
  }
}

async function completeBinaries(options: ControlPlaneOptions): Promise<Record<ProgramName, string>> {
  const given = options.binaries ?? {};
  const needed: ProgramName[] = ['etcd', 'kube-apiserver'];
  if (options.controllerManager === true) needed.push('kube-controller-manager');
  const missing = needed.filter((name) => given[name] === undefined);
  const resolved = await resolveBinaries(missing, options.progress === undefined ? {} : { progress: options.progress });
  return { ...resolved, ...given };
}

class Launch {
  readonly #at: Layout;
  readonly #dir: DataDir;
  readonly #binaries: Record<ProgramName, string>;
  readonly #temporary: boolean;
  readonly #running = new Map<ProgramName, Program>();
  readonly #failed = Promise.withResolvers<ToolsError>();
  #watchdog: Watchdog | undefined;
  #stopping: Promise<void> | undefined;

  constructor(dir: DataDir, binaries: Record<ProgramName, string>, temporary: boolean) {
    this.#dir = dir;
    this.#at = dir.at;
    this.#binaries = binaries;
    this.#temporary = temporary;
  }

  async start(options: ControlPlaneOptions): Promise<ControlPlane> {
    if (options.port !== undefined) await requireFreePort(options.port);
    if (this.#temporary && options.copyOf !== undefined) {
      await cp(layout(options.copyOf).etcdData, this.#at.etcdData, { recursive: true });
    }
    const port = options.port ?? (await pickFreePort());
    const client = await pickFreePort([port]);
    const peer = await pickFreePort([port, client]);
    const url = `https://127.0.0.1:${port}`;
    const pki = await preparePki(this.#at);
    await writeAdminKubeconfig(this.#at, pki, url);
    this.#watchdog = await startWatchdog(this.#dir.path, this.#temporary);
    const etcd = await this.#run('etcd', etcdArguments(this.#at, { client, peer }, options.durable === true));
    await waitUntilServing(client, etcd);
    await markReady(etcd);
    const audit = options.audit === true;
    if (audit) await prepareAudit(this.#at);
    let ca = pki.authority.certificate;
    const startApiServer = async () => {
      const args = apiServerArguments(this.#at, port, client, audit);
      const apiServer = await this.#run('kube-apiserver', [...args, ...(options.apiServerFlags ?? [])]);
      await waitUntilReady(url, ca, pki.admin, [...this.#running.values()]);
      await markReady(apiServer);
    };
    const rotateAuthority = async () => {
      await this.#end('kube-apiserver', killProgram);
      ca = await replaceServingAuthority(this.#at);
      await startApiServer();
      return ca;
    };
    await startApiServer();
    if (options.controllerManager === true) {
      await writeControllerManagerKubeconfig(this.#at, pki, url);
      await this.#run('kube-controller-manager', controllerManagerArguments(this.#at));
    }
    return {
      ...this.#describe(url, port, pki),
      rememberObjects: () => rememberObjects(this.#at, client),
      recordHistory: () => recordHistory(this.#at, client),
      startApiServer,
      rotateAuthority,
    };
  }

  #describe(
    url: string,
    port: number,
    pki: Pki,
  ): Omit<ControlPlane, 'rememberObjects' | 'recordHistory' | 'startApiServer' | 'rotateAuthority'> {
    return {
      url,
      port,
      dataDir: this.#dir.path,
      kubeconfig: this.#at.adminKubeconfig,
      ca: pki.authority.certificate,
      caKeyPath: this.#at.authority,
      serviceAccountKeyPath: this.#at.serviceAccountKey,
      auditLog: this.#at.auditLog,
      pids: () => Object.fromEntries([...this.#running].map(([name, { pid }]) => [name, pid])),
      kubeconfigFor: (who) => writeUserKubeconfig(this.#at, pki, url, who),
      killApiServer: () => this.#end('kube-apiserver', killProgram),
      failed: this.#failed.promise,
      stop: () => this.stop(),
    };
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    // Only etcd has state to lose. Terminating an API server gracefully takes a second, with open watches a minute.
    await this.#end('kube-controller-manager', killProgram);
    await this.#end('kube-apiserver', killProgram);
    await this.#end('etcd', this.#temporary ? killProgram : (program) => endProgram(program, ETCD_GRACE_MS));
    await this.#watchdog?.dismiss();
    this.#dir.lock.release();
    if (this.#temporary) await rm(this.#dir.path, { recursive: true, force: true });
  }

  async #run(name: ProgramName, args: string[]): Promise<Program> {
    const logFile = join(this.#at.logs, `${name}.log`);
    const env = this.#temporary ? TEMPORARY_ENV : {};
    const program = await startProgram({ name, path: this.#binaries[name], args, logFile, env });
    this.#running.set(name, program);
    void this.#watch(name, program);
    return program;
  }

  async #watch(name: ProgramName, program: Program): Promise<void> {
    await program.exit;
    // Intentional stops remove it from the list first.
    if (this.#running.get(name) === program) this.#failed.resolve(await diedError(program));
  }

  async #end(name: ProgramName, end: (program: Program) => Promise<void>): Promise<void> {
    const program = this.#running.get(name);
    this.#running.delete(name);
    if (program !== undefined) await end(program);
  }
}
