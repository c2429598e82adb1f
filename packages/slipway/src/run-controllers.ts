import type { Server } from 'node:http';
import { watchFeatureGates } from '@slipway/controllers';
import type { WatchedFeatureGates } from '@slipway/controllers';
import type { FeatureGateSettings } from '@slipway/fleet';
import { createClient, createManager, createMetrics, createRecorder, serveProbes } from '@slipway/kube';
import type { Log, Transport } from '@slipway/kube';
import { controllersOf, type ControllerSettings } from './controllers-of.ts';

export interface RunOptions {
  transport: Transport;
  namespace: string;
  featureGates: FeatureGateSettings;
  settings: ControllerSettings;
  log: Log;
  /** Carries the renewals of the lease, so that they never wait behind other requests. Left out: no election. */
  electionTransport?: Transport | undefined;
  /** Where /healthz, /readyz and /metrics are served; left out: nowhere. */
  probes?: { host: string; port: number } | undefined;
}

export interface RunningControllers {
  gates: WatchedFeatureGates;
  ready(): boolean;
  stop(): Promise<void>;
}

export async function runControllers(options: RunOptions): Promise<RunningControllers> {
  const { transport, namespace, log } = options;
  const stopped = new AbortController();
  const client = createClient(transport);
  const metrics = createMetrics();
  const events = createRecorder(client, { component: 'slipway-controllers', log, metrics });
  const gates = watchFeatureGates(transport, { flags: options.featureGates, log, signal: stopped.signal });
  await gates.known;
  const manager = createManager({
    client,
    controllers: controllersOf(namespace, options.settings, { gates, metrics }),
    events,
    log,
    metrics,
    gates,
    election:
      options.electionTransport === undefined
        ? undefined
        : { client: createClient(options.electionTransport), lease: { namespace, name: 'slipway-controllers' } },
  });
  manager.start();
  const server: Server | undefined =
    options.probes === undefined
      ? undefined
      : await serveProbes({ ...options.probes, metrics, ready: manager.ready, live: manager.live });
  return {
    gates,
    ready: () => manager.ready().ok,
    async stop() {
      await manager.stop();
      stopped.abort();
      server?.close();
      await options.electionTransport?.close();
      await transport.close();
    },
  };
}
