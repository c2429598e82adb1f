import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

/**
 * A plain TCP proxy to the API server that can hold back what the server sends (in memory, so that the server is never
 * slowed down) and then release it all. It sees only TLS records. With it the benchmark measures how fast an informer
 * processes changes that have already been made, not how fast the API server makes them.
 */
export interface HoldProxy {
  port: number;
  hold(): void;
  release(): void;
  close(): void;
}

export async function startHoldProxy(target: number): Promise<HoldProxy> {
  let held = false;
  const waiting: (() => void)[] = [];
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    client.pipe(upstream);
    upstream.on('data', (chunk) => {
      if (held) waiting.push(() => client.write(chunk));
      else client.write(chunk);
    });
    const end = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('close', end).on('error', end);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    hold() {
      held = true;
    },
    release() {
      held = false;
      for (const send of waiting.splice(0)) send();
    },
    close() {
      server.close();
    },
  };
}
