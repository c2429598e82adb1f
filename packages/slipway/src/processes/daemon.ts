import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import {
  createRealHost,
  type Daemon,
  DaemonError,
  ENCAPSULATED,
  finishFirstBoot,
  type Host,
  startDaemon,
} from '@slipway/daemon';
import {
  createClient,
  createLog,
  createManager,
  createMetrics,
  createRecorder,
  type Log,
  type LogLevel,
  type Metrics,
  serveProbes,
  type Transport,
} from '@slipway/kube';
import type { ListenAddress } from '../cli/options.ts';
import { type ClusterOptions, connect, stopSignal, version } from '../cli/program.ts';

export interface MachineOptions {
  root: string;
  simulate?: boolean;
  logLevel: LogLevel;
}

export interface DaemonCommandOptions extends ClusterOptions, MachineOptions {
  node: string;
  probes: ListenAddress;
}

export type FirstBootCommandOptions = MachineOptions;

/** Opens a directory as a machine, for `--simulate`. Missing in the program that machines run: it contains no simulator. */
export type OpenSimulatedHost = (options: { readonly root: string; readonly onReboot: () => void }) => Promise<Host>;

/** The kubelet writes the credentials when it joins, which may be after the daemon starts. */
const CONNECT_RETRY_MS = 5000;
/** When an API server restarts, the daemons of the whole fleet come back within this time, not in the same instant. */
const RECONNECT_SPREAD_MS = 10_000;
/** If the machine does not reboot in this time, the unit fails visibly instead of waiting without end. */
const DOWN_WITHIN_MS = 15 * 60_000;

export async function runDaemon(options: DaemonCommandOptions, openSimulated?: OpenSimulatedHost): Promise<void> {
  const log = createLog({ name: 'slipway', level: options.logLevel });
  const stop = stopSignal();
  while (!stop.aborted) {
    // A simulated reboot stops the daemon; this loop starts it again.
    const boot = new AbortController();
    const host = await openHost(options, () => boot.abort('reboot'), openSimulated);
    await runBoot(options, host, log, AbortSignal.any([stop, boot.signal]));
  }
  log.info({ signal: stop.reason as unknown }, 'stopped');
}

async function runBoot(options: DaemonCommandOptions, host: Host, log: Log, signal: AbortSignal): Promise<void> {
  await checkFirstBoot(host);
  const metrics = createMetrics();
  const daemon = await startDaemon({
    host,
    root: options.root,
    nodeName: options.node,
    programVersion: version,
    log,
    metrics,
  });
  try {
    const transport = await connectWithRetry(options, log, signal);
    if (transport !== undefined) await serve(options, { daemon, transport, metrics, log, signal });
  } finally {
    await daemon.stop();
  }
}

interface Serving {
  daemon: Daemon;
  transport: Transport;
  metrics: Metrics;
  log: Log;
  signal: AbortSignal;
}

async function serve(
  options: DaemonCommandOptions,
  { daemon, transport, metrics, log, signal }: Serving,
): Promise<void> {
  const client = createClient(transport);
  const events = createRecorder(client, { component: 'machine-config-daemon', log, metrics });
  const controllers = daemon.controllers(client, events);
  const reconnectSpreadMs = RECONNECT_SPREAD_MS;
  const manager = createManager({ client, controllers, events, log, metrics, reconnectSpreadMs });
  const probes = await serveProbes({ ...options.probes, metrics, ready: manager.ready, live: manager.live });
  manager.start();
  try {
    if (!signal.aborted) await once(signal, 'abort');
  } finally {
    probes.close();
    await manager.stop();
    await transport.close();
  }
}

async function connectWithRetry(
  options: ClusterOptions,
  log: Log,
  signal: AbortSignal,
): Promise<Transport | undefined> {
  let said = '';
  while (!signal.aborted) {
    try {
      return await connect(options, { multiplex: true });
    } catch (error) {
      const why = String(error);
      if (why !== said)
        log.warn({ err: error }, 'cannot connect to the cluster yet; retrying, and watching the machine meanwhile');
      said = why;
      await wait(CONNECT_RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }
  return undefined;
}

export async function runFirstBoot(options: FirstBootCommandOptions, openSimulated?: OpenSimulatedHost): Promise<void> {
  const log = createLog({ name: 'slipway', level: options.logLevel });
  const signal = stopSignal();
  const host = await openHost(options, () => {}, openSimulated);
  const onProgress = (progress: object) => log.info({ progress }, 'downloading');
  const result = await finishFirstBoot({ host, log, signal, onProgress });
  log.info({ result }, 'first boot');
  // The kubelet starts when this unit succeeds, which must not happen before the reboot.
  if (result.type !== 'rebooting' || options.simulate === true) return;
  await wait(DOWN_WITHIN_MS, undefined, { signal }).catch(() => {});
  process.exitCode = 1;
}

const openHost = (
  { root, simulate }: MachineOptions,
  onReboot: () => void,
  openSimulated: OpenSimulatedHost | undefined,
): Promise<Host> =>
  simulate === true && openSimulated !== undefined ? openSimulated({ root, onReboot }) : createRealHost({ root });

async function checkFirstBoot({ files }: Host): Promise<void> {
  if ((await files.lookAt(ENCAPSULATED)) === null) return;
  throw new DaemonError(
    'SLW_DAEMON_FIRST_BOOT',
    `the first boot of this machine is not complete: ${ENCAPSULATED} still exists. The daemon starts after it. Find the cause with: systemctl status machine-config-daemon-firstboot.service`,
  );
}
