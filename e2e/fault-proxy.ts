import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/**
 * A TCP pipe to a server that fails as networks fail. It sees only TLS records, so it cuts wherever it happens to be:
 * within a record, within a line, within a handshake.
 */
export interface FaultProxy {
  readonly port: number;
  /** Connections that were ended by a fault. */
  readonly cuts: number;
  /** Ends all connections now. */
  cutAll(): void;
  /** While true, nobody gets in, and who is in is out. */
  refuse(refused: boolean): void;
  /** No more faults for what is sent from now on. */
  calm(): void;
  close(): Promise<void>;
}

export interface Faults {
  /** Uniform in [0, 1). */
  random: () => number;
  /** A connection ends after a number of bytes from the server between these two; small numbers are as likely as large ones. */
  bytes: { least: number; most: number };
  /** How often (0 to 1) a piece is held back, and for how long at most. */
  delay: { often: number; mostMs: number };
}

export async function startFaultProxy(target: number, { random, bytes, delay }: Faults): Promise<FaultProxy> {
  const open = new Set<() => void>();
  let refused = false;
  let calm = false;
  let cuts = 0;

  const cutAll = (): void => {
    for (const end of open) {
      cuts += 1;
      end();
    }
  };

  const server = createServer((client) => {
    client.on('error', () => {});
    if (refused) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(target, '127.0.0.1');
    const end = (): void => {
      open.delete(end);
      client.destroy();
      upstream.destroy();
    };
    open.add(end);
    for (const socket of [client, upstream]) socket.on('close', end).on('error', end);
    client.pipe(upstream);
    passOn(upstream, client, bytes.least * (bytes.most / bytes.least) ** random(), end);
  });

  /** Passes on what the server sends until the connection's bytes are spent. */
  function passOn(from: Socket, to: Socket, budget: number, end: () => void): void {
    let left = Math.floor(budget);
    from.on('data', (chunk: Buffer) => {
      const fits = calm || chunk.length <= left;
      left -= chunk.length;
      to.write(fits ? chunk : chunk.subarray(0, Math.max(0, left + chunk.length)), () => {
        if (!fits && open.has(end)) {
          cuts += 1;
          end();
        }
      });
      if (!calm && random() < delay.often) {
        from.pause();
        setTimeout(() => from.resume(), random() * delay.mostMs);
      }
    });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get cuts() {
      return cuts;
    },
    cutAll,
    refuse(value) {
      refused = value;
      if (refused) cutAll();
    },
    calm() {
      calm = true;
    },
    async close() {
      for (const end of open) end();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
