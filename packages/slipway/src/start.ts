import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { FeatureGateSettings } from '@slipway/fleet';
import { createClient, createLog } from '@slipway/kube';
import {
  type ControlPlane,
  pickFreePort,
  type Progress,
  resolveBinaries,
  startControlPlane,
  terminalProgress,
  ToolsError,
} from '@slipway/tools/controlplane';
import { defaultNamespace, usualPort, usualServerPort } from './cli/options.ts';
import { connect, stopSignal, whereIs } from './cli/program.ts';
import { defaultSettings } from './default-settings.ts';
import { fleetDirectory, startLocalFleet } from './fleet/start-fleet.ts';
import { createNamespace, install, installedText } from './install.ts';
import { operatorIdentity } from './operator-identity.ts';
import { preflight } from './preflight.ts';
import { runControllers, type RunningControllers } from './run-controllers.ts';
import { type LocalServer, startLocalServer } from './start-server.ts';
import { welcome } from './welcome.ts';

export interface StartOptions {
  dataDir: string;
  port?: number;
  fresh: boolean;
  /** How many simulated machines; 0: none. */
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
    // What breaks because the user stopped it is not worth a word: a build gets the same Ctrl-C.
    if (!stop.aborted) throw error;
  }
  progress.note('Stopped. Everything is kept; the next start goes on from here.');
}

async function run(options: StartOptions, progress: Progress, stop: AbortSignal, begun: number): Promise<void> {
  const { kubectl } = await resolveBinaries(['kubectl'], { progress });
  const controlPlane = await startOnPort(options, progress);
  let controllers: RunningControllers | undefined;
  let server: LocalServer | undefined;
  let fleet: Awaited<ReturnType<typeof startLocalFleet>> | undefined;
  try {
    // Machines of a cluster that is gone.
    if (options.fresh) await rm(fleetDirectory(options.dataDir), { recursive: true, force: true });
    progress.update('installing CRDs and admission policies');
    const transport = await connect({ kubeconfig: controlPlane.kubeconfig });
    const installed = await install(createClient(transport), defaultNamespace, (line) => progress.update(line));
    const { kubernetes } = await preflight(transport);
    // Where the stubs of new machines go.
    await createNamespace(createClient(transport), 'openshift-machine-api');
    await transport.close();
    progress.note(installedText(installed));
    const operator = await controlPlane.kubeconfigFor(operatorIdentity(defaultNamespace));
    const serverPort = await freeFrom(usualServerPort);
    const serverUrl = `https://127.0.0.1:${serverPort}`;
    controllers = await runControllers({
      transport: await connect({ kubeconfig: operator }),
      namespace: defaultNamespace,
      featureGates: options.featureGates,
      settings: { ...defaultSettings, serverUrl, connection: await whereIs({ kubeconfig: controlPlane.kubeconfig }) },
      log: fileLog(options.dataDir, 'controllers'),
    });
    server = await startLocalServer(operator, defaultNamespace, serverPort, fileLog(options.dataDir, 'server'));
    progress.update('waiting for the controllers');
    await untilReady(controllers);
    if (options.nodes > 0) {
      fleet = await startLocalFleet({
        kubeconfig: controlPlane.kubeconfig,
        dataDir: options.dataDir,
        machines: options.nodes,
        log: fileLog(options.dataDir, 'fleet'),
        signal: stop,
        onProgress: (line) => progress.update(line),
      });
    }
    progress.clear();
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    const gates = controllers.gates.current();
    const machines = fleet?.names() ?? [];
    console.log(
      welcome({ ...controlPlane, serverUrl, kubernetes, seconds, gates, machines, kubectl: asTyped(kubectl) }),
    );
    if (stop.aborted) return;
    const ended = await Promise.race([once(stop, 'abort'), controlPlane.failed]);
    if (ended instanceof ToolsError) throw ended;
  } finally {
    await fleet?.stop();
    await server?.stop();
    await controllers?.stop();
    await controlPlane.stop();
  }
}

/** A moment of patience: the welcome is more useful when what it tells to try is there. */
async function untilReady(controllers: RunningControllers): Promise<void> {
  const giveUpAt = performance.now() + 20_000;
  while (!controllers.ready() && performance.now() < giveUpAt) await wait(50);
}

/** How the user calls kubectl: by its name where PATH has it. */
function asTyped(kubectl: string): string {
  const onPath = (process.env.PATH ?? '').split(delimiter).some((directory) => join(directory, 'kubectl') === kubectl);
  return onPath ? 'kubectl' : kubectl;
}

/** A port that was asked for is used or refused; the usual one gives way to a free one. */
async function startOnPort(options: StartOptions, progress: Progress): Promise<ControlPlane> {
  const common = { dataDir: options.dataDir, fresh: options.fresh, durable: true, progress };
  if (options.port !== undefined) return startControlPlane({ ...common, port: options.port });
  try {
    return await startControlPlane({ ...common, port: usualPort });
  } catch (error) {
    if (!(error instanceof ToolsError) || error.code !== 'SLW_TOOLS_PORT_TAKEN') throw error;
    progress.note(`Port ${usualPort} is taken; using a free one instead.`);
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

/** The screen is for people; what controllers and server say goes to files. */
function fileLog(dataDir: string, name: string): ReturnType<typeof createLog> {
  const file = createWriteStream(join(dataDir, 'log', `${name}.log`), { flags: 'a', mode: 0o600 });
  return createLog({ name: 'slipway', pretty: false, write: (line) => file.write(line) });
}
