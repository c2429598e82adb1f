// The daemons of many machines in one process, each as in its own process on its own machine: with its own connection,
// its own credentials and its own watches. It costs more than shared watches, and shows what a fleet costs its API
// server.
import { type Daemon, startDaemon } from '@slipway/daemon';
import { createClient, createManager, createMetrics, createRecorder, type Log, type Transport } from '@slipway/kube';
import type { ManyDaemons, StartedMachine } from './many-daemons.ts';

export interface SeparateDaemonsOptions {
  readonly programVersion: string;
  readonly log: Log;
  /** Opens a connection with the credentials of the node. */
  connect(this: void, nodeName: string): Promise<Transport>;
}

interface RunningDaemon {
  stop(): Promise<void>;
}

export function createSeparateDaemons(options: SeparateDaemonsOptions): ManyDaemons {
  const running = new Map<string, RunningDaemon>();

  async function stop(nodeName: string): Promise<void> {
    const found = running.get(nodeName);
    running.delete(nodeName);
    await found?.stop();
  }

  return {
    controllers: [],
    async start(machine) {
      await stop(machine.nodeName);
      running.set(machine.nodeName, await startOne(machine, options));
    },
    stop,
    async stopAll() {
      await Promise.all([...running.keys()].map(stop));
    },
  };
}

async function startOne(
  { nodeName, host, root }: StartedMachine,
  { programVersion, connect, ...options }: SeparateDaemonsOptions,
): Promise<RunningDaemon> {
  const log = options.log.child({ node: nodeName });
  const metrics = createMetrics();
  const daemon = await startDaemon({ host, root, nodeName, programVersion, log, metrics });
  const transport = await connect(nodeName).catch((error: unknown) => failedToConnect(daemon, error));
  const client = createClient(transport);
  const events = createRecorder(client, { component: 'machine-config-daemon', instance: nodeName, log, metrics });
  const manager = createManager({ client, controllers: daemon.controllers(client, events), events, log, metrics });
  manager.start();
  return {
    async stop() {
      await manager.stop();
      await transport.close();
      await daemon.stop();
    },
  };
}

async function failedToConnect(daemon: Daemon, error: unknown): Promise<never> {
  await daemon.stop();
  throw error;
}
