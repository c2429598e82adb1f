// Control planes with Slipway installed, one for each test file that requests one, and clients for all identities.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { controllerUser, DEFAULT_NAMESPACE, namespaces } from '@slipway/api';
import { type Client, createClient, createTransport, loadKubeconfig } from '@slipway/kube';
import {
  borrowControlPlane,
  type ControlPlane,
  silentProgress,
  startControlPlane,
  waitForLock,
} from '@slipway/tools/controlplane';
import { inject } from 'vitest';
import { runSlipway } from './slipway-process.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The administrator's kubeconfig of the shared control plane. */
    kubeconfig: string;
    /** A directory for files that several tests share. */
    installations: string;
  }
}

/** The identity of the controllers: a ServiceAccount that the admission policies exempt, here with all permissions. */
export const operator = {
  user: controllerUser(DEFAULT_NAMESPACE),
  groups: [`system:serviceaccounts:${DEFAULT_NAMESPACE}`, 'system:masters'],
  name: 'operator',
};

/** A user in the break-glass group. */
export const breakGlass = { user: 'on-call', groups: ['slipway:break-glass', 'system:masters'], name: 'on-call' };

/** A dedicated control plane; connections to it close with it. */
export interface TestCluster extends AsyncDisposable {
  readonly controlPlane: ControlPlane;
  /** The administrator: an ordinary user to the admission policies. */
  readonly admin: Client;
  /** The controllers. */
  readonly operator: Client;
  clientFor(this: void, who: Parameters<ControlPlane['kubeconfigFor']>[0]): Promise<Client>;
  clientWithToken(this: void, token: string): Promise<Client>;
  stop(this: void): Promise<void>;
}

/** With Slipway installed and nothing running; or empty, like a new Kubernetes cluster. */
export async function startTestCluster({ isEmpty = false } = {}): Promise<TestCluster> {
  const controlPlane = isEmpty ? await borrowControlPlane() : await startInstalledControlPlane();
  const clients: Client[] = [];
  const keep = (client: Client): Client => {
    clients.push(client);
    return client;
  };
  const open = async (kubeconfig: string): Promise<Client> => keep(await connect(kubeconfig));
  const clientFor: TestCluster['clientFor'] = async (who) => open(await controlPlane.kubeconfigFor(who));
  const stop = async (): Promise<void> => {
    await Promise.all(clients.splice(0).map((client) => client.transport.close()));
    await controlPlane.stop();
  };
  return {
    controlPlane,
    admin: await open(controlPlane.kubeconfig),
    operator: await clientFor(operator),
    clientFor,
    async clientWithToken(token) {
      const access = await loadKubeconfig([controlPlane.kubeconfig]);
      const credentials = { source: 'a token', current: async () => ({ token }), refresh: async () => {} };
      return keep(createClient(createTransport({ ...access, credentials })));
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

export async function connect(kubeconfig: string): Promise<Client> {
  return createClient(createTransport(await loadKubeconfig([kubeconfig])));
}

/** Administrator access to the control plane that all tests of a run share. Nothing is installed there. */
export const connectToShared = (): Promise<Client> => connect(inject('kubeconfig'));

/** A separate namespace in the shared control plane, and an administrator's client. */
export interface ScratchNamespace extends AsyncDisposable {
  readonly client: Client;
  readonly namespace: string;
  /** Deletes the namespace and its contents. */
  close(this: void): Promise<void>;
}

export async function openScratchNamespace(prefix: string): Promise<ScratchNamespace> {
  const client = await connectToShared();
  const namespace = `${prefix}-${randomBytes(4).toString('hex')}`;
  await client.create(namespaces, { metadata: { name: namespace } });
  const close = async (): Promise<void> => {
    await client.delete(namespaces, { name: namespace }, {});
    await client.transport.close();
  };
  return { client, namespace, close, [Symbol.asyncDispose]: close };
}

/**
 * A dedicated control plane with Slipway installed. Installing takes the API server longer than starting: the first
 * test that requests one installs, and every control plane starts with a copy of the result. It may have served another
 * test before, of which nothing is left.
 */
export async function startInstalledControlPlane(): Promise<ControlPlane> {
  return borrowControlPlane({ copyOf: await findInstallation() });
}

async function findInstallation(): Promise<string> {
  const directory = inject('installations');
  const finished = join(directory, 'finished');
  if (existsSync(finished)) return finished;
  const lock = await waitForLock(join(directory, 'lock'), 'is installing Slipway for all tests', silentProgress);
  try {
    if (!existsSync(finished)) await install(join(directory, 'unfinished'), finished);
  } finally {
    lock.release();
  }
  return finished;
}

async function install(unfinished: string, finished: string): Promise<void> {
  const controlPlane = await startControlPlane({ dataDir: unfinished, fresh: true });
  try {
    const { code, err } = await runSlipway('install', '--kubeconfig', controlPlane.kubeconfig);
    if (code !== 0) throw new Error(`slipway install failed: ${err}`);
  } finally {
    await controlPlane.stop();
  }
  await rename(unfinished, finished);
}
