import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Metrics } from './metrics.ts';

export interface Health {
  ok: boolean;
  problems: readonly string[];
}

export interface ProbeOptions {
  metrics: Metrics;
  ready(this: void): Health;
  live(this: void): Health;
  /** Loopback by default; a pod needs `::`. */
  host?: string | undefined;
  port: number;
}

/** Serves /healthz, /readyz and /metrics for the kubelet and Prometheus. Resolves once it listens. */
export function serveProbes({ host = '127.0.0.1', port, ...sources }: ProbeOptions): Promise<Server> {
  const server = createServer(
    { requestTimeout: 5000, headersTimeout: 5000, keepAliveTimeout: 5000, maxHeaderSize: 8192 },
    (request, response) => {
      // No endpoint reads a body.
      request.resume();
      answerProbe(request, response, sources).catch(() => response.destroy());
    },
  );
  server.maxConnections = 64;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve(server);
    });
  });
}

async function answerProbe(
  request: IncomingMessage,
  response: ServerResponse,
  { metrics, ready, live }: Pick<ProbeOptions, 'metrics' | 'ready' | 'live'>,
): Promise<void> {
  const send = (status: number, text: string, type = 'text/plain; charset=utf-8'): void => {
    response.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' });
    response.end(request.method === 'HEAD' ? undefined : text);
  };
  const sendHealth = ({ ok, problems }: Health): void =>
    send(ok ? 200 : 503, ok ? 'ok\n' : `${problems.join('\n') || 'not started'}\n`);
  if (request.method !== 'GET' && request.method !== 'HEAD') return send(405, 'only GET is allowed\n');
  const path = request.url?.split('?', 1)[0];
  if (path === '/healthz') return sendHealth(live());
  if (path === '/readyz') return sendHealth(ready());
  if (path === '/metrics') return send(200, await metrics.registry.metrics(), metrics.registry.contentType);
  return send(404, 'not found: use /healthz, /readyz or /metrics\n');
}
