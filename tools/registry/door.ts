// A TCP proxy to a server. Shut, it holds back what the server sends, like a dead line; or it refuses connections, as
// if nothing listened.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface Door {
  /** 127.0.0.1:PORT */
  readonly host: string;
  /** After this many more bytes from the server nothing is forwarded; null: everything is, immediately. */
  shutAfter(bytes: number | null): void;
  /** True: closes all connections and refuses new ones. */
  setAway(isAway: boolean): void;
  /** Connections whose other end waits for more. */
  waiting(): number;
  close(): Promise<void>;
}

export async function openDoor(port: number): Promise<Door> {
  const open = new Set<Socket>();
  const waiting = new Set<Socket>();
  let left: number | null = null;
  let isAway = false;

  function pass(server: Socket, client: Socket, bytes: string | Buffer): void {
    client.write(bytes);
    if (left === null) return;
    left -= bytes.length;
    if (left > 0) return;
    server.pause();
    waiting.add(server);
  }

  const listener = createServer((client) => {
    if (isAway) {
      client.resetAndDestroy();
      return;
    }
    const server = connect(port, '127.0.0.1');
    open.add(client);
    client.pipe(server);
    server.on('data', (bytes) => pass(server, client, bytes));
    server.on('end', () => client.end());
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        open.delete(client);
        waiting.delete(server);
        other.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const address = listener.address();
  if (address === null || typeof address === 'string') throw new Error('expected a port');

  return {
    host: `127.0.0.1:${address.port}`,
    shutAfter(bytes) {
      left = bytes;
      if (bytes !== null) return;
      for (const server of waiting) server.resume();
      waiting.clear();
    },
    setAway(away) {
      isAway = away;
      if (away) for (const client of open) client.destroy();
    },
    waiting: () => waiting.size,
    async close() {
      const closed = once(listener, 'close');
      listener.close();
      for (const client of open) client.destroy();
      await closed;
    },
  };
}
