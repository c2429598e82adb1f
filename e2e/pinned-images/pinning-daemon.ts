// What the daemon does about images, as it does it on a machine: its host, its identity, its controller and its queue.
import { type Host, startDaemon } from '@slipway/daemon';
import { type Client, createMetrics, createRecorder, type Log } from '@slipway/kube';
import { runControllers } from '@slipway/testing/run-controllers';

export interface PinningDaemonOptions {
  readonly host: Host;
  readonly root: string;
  readonly nodeName: string;
  /** By the identity of the node. */
  readonly client: Client;
  readonly log: Log;
  readonly pinNow?: () => number;
}

export async function startPinningDaemon(options: PinningDaemonOptions): Promise<{ stop(): Promise<void> }> {
  const { client, log } = options;
  const metrics = createMetrics();
  const daemon = await startDaemon({ ...options, programVersion: 'test', metrics, pinSpreadMs: 0 });
  const events = createRecorder(client, { component: 'machine-config-daemon', log });
  // Configs have tests of their own.
  const controllers = daemon.controllers(client, events).filter(({ name }) => name === 'pinning');
  const running = runControllers(client, controllers, { log, metrics, events, stopBoundMs: 20_000 });
  return {
    async stop() {
      await running.stop();
      await daemon.stop();
    },
  };
}
