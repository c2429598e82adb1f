import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { FeatureGateSettings } from '@slipway/fleet';
import { createClient, createLog } from '@slipway/kube';
import { startControlPlane, terminalProgress, ToolsError } from '@slipway/tools/controlplane';
import type { ControlPlane, Progress } from '@slipway/tools/controlplane';
import { connect } from './connect.ts';
import { install, installedText } from './install.ts';
import { defaultNamespace } from './namespace.ts';
import { preflight } from './preflight.ts';
import { runControllers } from './run-controllers.ts';
import type { RunningControllers } from './run-controllers.ts';
import { stopSignal } from './stop-signal.ts';
import { usualPort } from './usual-port.ts';
import { welcome } from './welcome.ts';

export interface StartOptions {
  dataDir: string;
  port?: number;
  fresh: boolean;
  featureGates: FeatureGateSettings;
}

export async function start(options: StartOptions): Promise<void> {
  const begun = performance.now();
  const progress = terminalProgress();
  const stop = stopSignal();
  const controlPlane = await startOnPort(options, progress);
  let controllers: RunningControllers | undefined;
  try {
    progress.update('installing CRDs and admission policies');
    const transport = await connect({ kubeconfig: controlPlane.kubeconfig });
    const installed = await install(createClient(transport), defaultNamespace, (line) => progress.update(line));
    const { kubernetes } = await preflight(transport);
    progress.note(installedText(installed));
    controllers = await runControllers({
      transport,
      namespace: defaultNamespace,
      featureGates: options.featureGates,
      log: fileLog(options.dataDir),
    });
    progress.clear();
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    console.log(welcome({ ...controlPlane, kubernetes, seconds, gates: controllers.gates.current() }));
    const ended = await Promise.race([stop, controlPlane.failed]);
    if (ended instanceof ToolsError) throw ended;
    progress.note('\nStopping …');
  } finally {
    await controllers?.stop();
    await controlPlane.stop();
  }
  progress.note('Stopped. Everything is kept; the next start goes on from here.');
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

/** The screen is for people; what controllers say goes to a file. */
function fileLog(dataDir: string): ReturnType<typeof createLog> {
  const file = createWriteStream(join(dataDir, 'log', 'controllers.log'), { flags: 'a', mode: 0o600 });
  return createLog({ name: 'slipway', pretty: false, write: (line) => file.write(line) });
}
