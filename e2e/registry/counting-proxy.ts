import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A TCP pipe to a server on this machine that counts what comes through. It sees TLS records, not what is in them. */
export interface CountingProxy {
  readonly port: number;
  /** From the server, of all connections. */
  readonly received: number;
  /** The next connection ends after so many bytes from the server, once. */
  cutAfter(bytes: number): void;
  readonly cuts: number;
  close(): Promise<void>;
}

export async function startCountingProxy(target: number): Promise<CountingProxy> {
  const open = new Set<Socket>();
  let received = 0;
  let budget: number | undefined;
  let cuts = 0;

  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    const end = () => {
      for (const socket of [client, upstream]) {
        open.delete(socket);
        socket.destroy();
      }
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('close', end).on('error', end);
    }
    client.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (budget === undefined) return;
      budget -= chunk.length;
      if (budget > 0) return;
      budget = undefined;
      cuts += 1;
      end();
    });
    upstream.pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get received() {
      return received;
    },
    get cuts() {
      return cuts;
    },
    cutAfter(bytes) {
      budget = bytes;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
