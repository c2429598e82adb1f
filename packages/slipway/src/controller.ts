import { once } from 'node:events';
import type { FeatureGateSettings } from '@slipway/fleet';
import { createLog, type LogLevel } from '@slipway/kube';
import { checkHosts } from './check-hosts.ts';
import type { IronicFlags, RegistryAccessFlags } from './cli/options.ts';
import { type ClusterOptions, connect, stopSignal, whereIs } from './cli/program.ts';
import { registryOptions } from './cli/registry.ts';
import type { ControllerSettings } from './controllers-of.ts';
import { type IronicSettings, ironicSettings } from './open-ironic.ts';
import { checkAlone, checkIdentity, preflight } from './preflight.ts';
import { runControllers } from './run-controllers.ts';

export interface ControllerOptions
  extends ClusterOptions, Omit<ControllerSettings, 'registry' | 'ironic'>, RegistryAccessFlags, IronicFlags {
  namespace: string;
  featureGates?: FeatureGateSettings;
  leaderElect: boolean;
  logLevel: LogLevel;
  probes: { host: string; port: number };
}

export async function runController(options: ControllerOptions): Promise<void> {
  const log = createLog({ name: 'slipway', level: options.logLevel });
  const { registriesConf, registryCa, plainHttp } = options;
  const registry = await registryOptions({ registriesConf, registryCa, plainHttp });
  const ironic = await ironicSettings(options);
  const kubernetes = await checkOnce(options, ironic);
  const transport = await connect(options);
  log.info({ server: transport.server, kubernetes }, 'connected');
  const stop = stopSignal();
  const running = await runControllers({
    transport,
    namespace: options.namespace,
    featureGates: options.featureGates ?? {},
    settings: { ...options, connection: await whereIs(options), registry, ironic },
    log,
    electionTransport: options.leaderElect ? await connect(options) : undefined,
    probes: options.probes,
  });
  if (!stop.aborted) await once(stop, 'abort');
  log.info({ signal: stop.reason as unknown }, 'stopping');
  await running.stop();
}

/** Without patience: what is wrong now is said now. Once the controllers run, they wait for a server to come back. */
async function checkOnce(options: ControllerOptions, ironic: IronicSettings | undefined): Promise<string> {
  const transport = await connect(options, { retryForMs: 0 });
  try {
    const { kubernetes } = await preflight(transport);
    await checkAlone(transport);
    await checkIdentity(transport, options.namespace);
    if (ironic !== undefined) await checkHosts(transport, ironic.besideOperator);
    return kubernetes;
  } finally {
    await transport.close();
  }
}
