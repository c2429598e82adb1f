import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WebServer {
  url: string;
  /** How often each path was asked for. */
  asked: Map<string, number>;
  close(): Promise<void>;
}

/** Somebody's web server that MachineConfigs refer to. */
export async function startWebServer(bodies: Readonly<Record<string, string | Buffer>>): Promise<WebServer> {
  const asked = new Map<string, number>();
  const server = createServer(({ url = '' }, response) => {
    asked.set(url, (asked.get(url) ?? 0) + 1);
    const body = bodies[url];
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
