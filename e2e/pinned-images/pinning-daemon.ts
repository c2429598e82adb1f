// What the daemon does about images, as it does it on a machine: its host, its identity, its controller and its queue.
import { type Host, startDaemon } from '@slipway/daemon';
import { type Client, createManager, createMetrics, createRecorder, type Log } from '@slipway/kube';

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
  const manager = createManager({ client, controllers, events, log, metrics });
  manager.start();
  return {
    async stop() {
      await manager.stop();
      await daemon.stop();
    },
  };
}
