import { once } from 'node:events';
import { createLog, createMetrics, type Log, type LogLevel, serveProbes } from '@slipway/kube';
import { createBootstrapSource, createClusterSource, type Source, startServer } from '@slipway/server';
import type { ListenAddress } from '../cli/options.ts';
import { type ClusterOptions, connect, stopSignal } from '../cli/program.ts';

export interface ServerCommandOptions extends ClusterOptions {
  listen: ListenAddress;
  namespace: string;
  allowAnonymous: boolean;
  bootstrap?: string;
  probes: ListenAddress;
  logLevel: LogLevel;
}

interface Opened {
  source: Source;
  close(): Promise<void>;
}

export async function runServer(options: ServerCommandOptions): Promise<void> {
  const log = createLog({ name: 'slipway', level: options.logLevel });
  const stop = stopSignal();
  const opened = await open(options, log, stop);
  try {
    await serve(options, opened, log, stop);
  } finally {
    await opened.close();
  }
}

async function serve(options: ServerCommandOptions, opened: Opened, log: Log, stop: AbortSignal): Promise<void> {
  const { source } = opened;
  const { allowAnonymous } = options;
  const metrics = createMetrics();
  const server = startServer({ source, listen: options.listen, allowAnonymous, metrics, log });
  const live = () => ({ ok: true, problems: [] });
  const probes = await serveProbes({ ...options.probes, metrics, ready: () => server.ready(), live });
  try {
    const stopped = stop.aborted ? Promise.resolve() : once(stop, 'abort');
    // It waits for its certificate without a limit, but a failure to listen ends it.
    await Promise.race([stopped, Promise.all([server.listening, stopped])]);
    log.info({ signal: stop.reason as unknown }, 'stopping');
  } finally {
    probes.close();
    await server.stop();
  }
}

const open = (options: ServerCommandOptions, log: Log, stop: AbortSignal): Promise<Opened> =>
  options.bootstrap === undefined ? openCluster(options, log, stop) : openDirectory(options.bootstrap, options);

async function openDirectory(directory: string, { allowAnonymous }: ServerCommandOptions): Promise<Opened> {
  return { source: await createBootstrapSource(directory, !allowAnonymous), close: async () => {} };
}

async function openCluster(options: ServerCommandOptions, log: Log, stop: AbortSignal): Promise<Opened> {
  await checkConnection(options);
  const transport = await connect(options);
  const ended = new AbortController();
  const { namespace } = options;
  const source = await createClusterSource({
    transport,
    namespace,
    needsTokens: !options.allowAnonymous,
    log,
    signal: AbortSignal.any([stop, ended.signal]),
  });
  log.info({ server: transport.server, namespace }, 'connected');
  return {
    source,
    async close() {
      ended.abort();
      await transport.close();
    },
  };
}

/** Without retries: a wrong kubeconfig fails immediately. A running server waits for an API server to return. */
async function checkConnection(options: ClusterOptions): Promise<void> {
  const transport = await connect(options, { retryForMs: 0 });
  try {
    await transport.json({ method: 'GET', path: '/version', what: 'read its version', retry: 'always' });
  } finally {
    await transport.close();
  }
}

export interface LocalServer {
  stop(): Promise<void>;
}

/** The machine config server of `npm start`, reachable from this machine only. */
export async function startLocalServer(
  kubeconfig: string,
  namespace: string,
  port: number,
  log: Log,
): Promise<LocalServer> {
  const transport = await connect({ kubeconfig });
  const ended = new AbortController();
  const source = await createClusterSource({ transport, namespace, needsTokens: true, log, signal: ended.signal });
  const server = startServer({
    source,
    listen: { host: '127.0.0.1', port },
    allowAnonymous: false,
    metrics: createMetrics(),
    log,
  });
  server.listening.catch((error: unknown) => log.error({ err: error }, 'the machine config server cannot listen'));
  return {
    async stop() {
      await server.stop();
      ended.abort();
      await transport.close();
    },
  };
}
