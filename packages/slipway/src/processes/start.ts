// Runs everything on this machine: a control plane, the controllers, the server and simulated machines.
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { controllerUser } from '@slipway/api';
import type { FeatureGateSettings, ResolvedGates } from '@slipway/fleet';
import { createClient, createLog } from '@slipway/kube';
import { type SimulatedFleet, startLocalFleet } from '@slipway/simulator';
import {
  type ControlPlane,
  pickFreePort,
  type Progress,
  resolveBinaries,
  startControlPlane,
  terminalProgress,
  ToolsError,
} from '@slipway/tools/controlplane';
import { DEFAULT_NAMESPACE, DEFAULT_API_PORT, DEFAULT_SERVER_PORT } from '../cli/options.ts';
import { connect, stopSignal, version, whereIs } from '../cli/program.ts';
import { progressBar } from '../cli/terminal.ts';
import { defaultSettings } from './command.ts';
import { preflight } from './controller.ts';
import { createFetcher, runControllers, type RunningControllers } from './controllers.ts';
import { createNamespace, install, installedText } from './install.ts';
import { type LocalServer, startLocalServer } from './server.ts';

export interface StartOptions {
  dataDir: string;
  port?: number;
  fresh: boolean;
  /** Number of simulated machines; 0: none. */
  nodes: number;
  featureGates: FeatureGateSettings;
}

export async function start(options: StartOptions): Promise<void> {
  const begun = performance.now();
  const progress = terminalProgress();
  const stop = stopSignal();
  stop.addEventListener('abort', () => progress.note('\nStopping …'));
  try {
    await run(options, progress, stop, begun);
  } catch (error) {
    // Ctrl-C reaches child processes too, so failures after it are expected.
    if (!stop.aborted) throw error;
  }
  progress.note('Stopped. All data is kept; the next start continues from here.');
}

interface Parts {
  controllers?: RunningControllers;
  server?: LocalServer;
  fleet?: Pick<SimulatedFleet, 'names' | 'stop'>;
}

/** What waits for an API server that died would do so for half a minute. It survives a crash, so it need not end well. */
const STOP_WITHIN_MS = 1000;
/** How much later than its first effect the death of a program may be noticed. */
const NOTICED_WITHIN_MS = 500;

async function run(options: StartOptions, progress: Progress, stop: AbortSignal, begun: number): Promise<void> {
  const { kubectl } = await resolveBinaries(['kubectl'], { progress });
  const controlPlane = await startOnPort(options, progress);
  const parts: Parts = {};
  const death = controlPlane.failed.then(({ code, message }) => {
    progress.note('\nStopping, because the control plane died …');
    throw new ToolsError(code, `${message}. Everything is stopped, and all data is kept: start again with npm start`);
  });
  async function runUntilStopped(): Promise<void> {
    try {
      const started = await startParts(parts, options, controlPlane, progress, stop);
      progress.clear();
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      console.log(welcome({ ...controlPlane, ...started, seconds, kubectl: asTyped(kubectl) }));
      if (!stop.aborted) await once(stop, 'abort');
    } catch (error) {
      await wait(NOTICED_WITHIN_MS);
      throw error;
    }
  }
  try {
    await Promise.race([runUntilStopped(), death]);
  } finally {
    await Promise.race([stopParts(parts), controlPlane.failed.then(() => wait(STOP_WITHIN_MS))]);
    await controlPlane.stop();
    void controlPlane.failed.then(() => setTimeout(() => process.exit(), STOP_WITHIN_MS).unref());
  }
}

async function startParts(
  parts: Parts,
  options: StartOptions,
  controlPlane: ControlPlane,
  progress: Progress,
  stop: AbortSignal,
): Promise<Pick<WelcomeFacts, 'serverUrl' | 'kubernetes' | 'gates' | 'machines'>> {
  // These machines belong to the deleted cluster.
  if (options.fresh) await rm(fleetDirectory(options.dataDir), { recursive: true, force: true });
  progress.update('installing CRDs and admission policies');
  const transport = await connect({ kubeconfig: controlPlane.kubeconfig });
  const installed = await install(createClient(transport), DEFAULT_NAMESPACE, (line) => progress.update(line));
  const { kubernetes } = await preflight(transport);
  // For the stubs of new machines.
  await createNamespace(createClient(transport), 'openshift-machine-api');
  await transport.close();
  progress.note(installedText(installed));
  const operator = await controlPlane.kubeconfigFor(operatorIdentity(DEFAULT_NAMESPACE));
  const serverPort = await freeFrom(DEFAULT_SERVER_PORT);
  const serverUrl = `https://127.0.0.1:${serverPort}`;
  const controllers = await runControllers({
    transport: await connect({ kubeconfig: operator }),
    namespace: DEFAULT_NAMESPACE,
    featureGates: options.featureGates,
    settings: { ...defaultSettings, serverUrl, connection: await whereIs({ kubeconfig: controlPlane.kubeconfig }) },
    log: fileLog(options.dataDir, 'controllers'),
  });
  parts.controllers = controllers;
  parts.server = await startLocalServer(operator, DEFAULT_NAMESPACE, serverPort, fileLog(options.dataDir, 'server'));
  progress.update('waiting for the controllers');
  await untilReady(controllers);
  if (options.nodes > 0) parts.fleet = await startMachines(options, controlPlane.kubeconfig, progress, stop);
  return { serverUrl, kubernetes, gates: controllers.gates.current(), machines: parts.fleet?.names() ?? [] };
}

async function stopParts({ fleet, server, controllers }: Parts): Promise<void> {
  await fleet?.stop();
  await server?.stop();
  await controllers?.stop();
}

/** The controllers' identity locally: the ServiceAccount that our admission policies allow, with all rights. */
export const operatorIdentity = (namespace: string): { user: string; groups: string[]; name: string } => ({
  user: controllerUser(namespace),
  groups: [`system:serviceaccounts:${namespace}`, 'system:masters'],
  name: 'operator',
});

const fleetDirectory = (dataDir: string): string => join(dataDir, 'fleet');

/** `kubeconfig` is the administrator's. */
async function startMachines(
  { dataDir, nodes }: StartOptions,
  kubeconfig: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<Pick<SimulatedFleet, 'names' | 'stop'>> {
  const transport = await connect({ kubeconfig });
  try {
    progress.update('provisioning the first simulated machines');
    const fleet = await startLocalFleet({
      transport,
      directory: fleetDirectory(dataDir),
      machines: nodes,
      // The server answers 503 until the pool is rendered and under load; real Ignition retries too.
      fetch: createFetcher({ attempts: 60, backoffMs: 250 }),
      programVersion: version,
      log: fileLog(dataDir, 'fleet'),
      signal,
      onBirth: (born, of) => progress.update(`simulated machines ${progressBar(born, of)} ${born}/${of} provisioned`),
    });
    return {
      names: () => fleet.names(),
      async stop() {
        await fleet.stop();
        await transport.close();
      },
    };
  } catch (error) {
    await transport.close();
    throw error;
  }
}

/** The welcome text suggests commands that need rendered pools, so wait a little for the controllers. */
async function untilReady(controllers: RunningControllers): Promise<void> {
  const giveUpAt = performance.now() + 20_000;
  while (!controllers.ready() && performance.now() < giveUpAt) await wait(50);
}

/** The short name of kubectl if it is on the PATH. */
function asTyped(kubectl: string): string {
  const onPath = (process.env.PATH ?? '').split(delimiter).some((directory) => join(directory, 'kubectl') === kubectl);
  return onPath ? 'kubectl' : kubectl;
}

/** A requested port is used or refused. The default port is replaced by a free one if taken. */
async function startOnPort(options: StartOptions, progress: Progress): Promise<ControlPlane> {
  const common = { dataDir: options.dataDir, fresh: options.fresh, durable: true, progress };
  if (options.port !== undefined) return startControlPlane({ ...common, port: options.port });
  try {
    return await startControlPlane({ ...common, port: DEFAULT_API_PORT });
  } catch (error) {
    if (!(error instanceof ToolsError) || error.code !== 'SLW_TOOLS_PORT_TAKEN') throw error;
    progress.note(`Port ${DEFAULT_API_PORT} is taken. Using a free port instead.`);
    return startControlPlane(common);
  }
}

async function freeFrom(port: number): Promise<number> {
  return (await isFree(port)) ? port : pickFreePort();
}

function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const probe = createServer();
  probe.once('error', () => resolve(false));
  probe.listen({ host: '127.0.0.1', port }, () => probe.close(() => resolve(true)));
  return promise;
}

/** Controllers and server log to files, to keep the terminal readable. */
function fileLog(dataDir: string, name: string): ReturnType<typeof createLog> {
  const file = createWriteStream(join(dataDir, 'log', `${name}.log`), { flags: 'a', mode: 0o600 });
  return createLog({ name: 'slipway', pretty: false, write: (line) => file.write(line) });
}

export interface WelcomeFacts {
  url: string;
  serverUrl: string;
  dataDir: string;
  kubeconfig: string;
  kubernetes: string;
  seconds: string;
  gates: ResolvedGates;
  /** Names of the simulated machines. */
  machines: readonly string[];
  /** The command that the user types. */
  kubectl: string;
}

/** Printed once everything runs: where things are, and what to try. */
export function welcome({
  url,
  serverUrl,
  dataDir,
  kubeconfig,
  kubernetes,
  seconds,
  gates,
  machines,
  kubectl,
}: WelcomeFacts): string {
  const on = Object.entries(gates).flatMap(([name, gate]) => (gate.on ? [name] : []));
  return `
Slipway is running (started in ${seconds} s).

  API server     ${url} (Kubernetes ${kubernetes})
  first boots    ${serverUrl}
  machines       ${machinesText(machines)}
  kubeconfig     ${kubeconfig}
  data           ${dataDir}
  logs           ${join(dataDir, 'log')}
  feature gates  ${on.join(', ') || 'none'}

Try this in another terminal:

  export KUBECONFIG=${kubeconfig}
${(machines.length > 0 ? listRolloutCommands(kubectl) : listInspectCommands(kubectl)).map((line) => `  ${line}`).join('\n')}

Ctrl-C stops everything and keeps all data.`;
}

function machinesText(machines: readonly string[]): string {
  if (machines.length === 0) return 'none (start some with --nodes 8)';
  return `${machines.length}, all simulated: a directory for each disk, with the real daemon`;
}

const listRolloutCommands = (kubectl: string): string[] => [
  `${kubectl} get nodes`,
  `${kubectl} get machineconfigpools`,
  './slipway status --watch                                        # keep it open; in a third terminal:',
  `${kubectl} apply -f docs/examples/99-worker-registries.yaml   # rolls out without a reboot`,
  `${kubectl} apply -f docs/examples/99-worker-motd.yaml         # rolls out with drain and reboot`,
  './slipway why worker-0',
];

const listInspectCommands = (kubectl: string): string[] => [
  `${kubectl} get machineconfigpools`,
  `${kubectl} explain machineconfigpool.spec`,
  `${kubectl} apply -f docs/examples/99-worker-motd.yaml && ${kubectl} get machineconfigs`,
  `${kubectl} get machineconfigpool worker -o jsonpath='{.spec.configuration}'`,
  `${kubectl} -n openshift-machine-api get secrets`,
];
