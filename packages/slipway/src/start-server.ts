import { createMetrics, type Log } from '@slipway/kube';
import { createClusterSource, startServer } from '@slipway/server';
import { connect } from './cli/program.ts';

export interface LocalServer {
  stop(): Promise<void>;
}

/** The machine config server beside the controllers of `npm start`, for this machine alone. */
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
