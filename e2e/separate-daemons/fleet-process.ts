// Some machines of a fleet in one process: the real daemons on simulated machines, each with the certificate of its node
// and its own connection, as the shipped daemon opens it. Says `ready` when they have joined, and ends with SIGTERM.
import { once } from 'node:events';
import { join } from 'node:path';
import { createFetcher } from '@slipway/controllers';
import { createLog, createTransport, loadKubeconfig, type TransportOptions } from '@slipway/kube';
import { startFleet } from '@slipway/simulator';

export interface FleetProcessOptions {
  /** The administrator's, to register Nodes. */
  readonly kubeconfig: string;
  /** The directory with the kubeconfig of each node. */
  readonly kubeconfigs: string;
  readonly directory: string;
  readonly first: number;
  readonly machines: number;
  readonly bootMs: number;
  /** A machine whose daemon runs in a process of its own. */
  readonly withoutDaemon: string | null;
}

const connect = async (kubeconfig: string, more: TransportOptions = {}) =>
  createTransport(await loadKubeconfig([kubeconfig]), more);
const options = JSON.parse(process.argv[2] ?? '') as FleetProcessOptions;
const { directory, first, machines, bootMs, withoutDaemon } = options;
const stopped = once(process, 'SIGTERM');
const transport = await connect(options.kubeconfig);
const fleet = await startFleet({
  transport,
  directory,
  shares: [{ pool: 'worker', machines, first }],
  log: createLog({ name: 'fleet', level: 'warn', pretty: false }),
  fetch: createFetcher({ attempts: 60, backoffMs: 250 }),
  programVersion: 'test',
  bootMs,
  connectNode: (name) => connect(join(options.kubeconfigs, `${name}.kubeconfig`), { multiplex: true }),
});
if (withoutDaemon !== null) await fleet.setTrouble(withoutDaemon, 'hangs');
console.log('ready');
await stopped;
await fleet.stop();
await transport.close();
