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
  /** While dark, who is in is out, and who comes is refused or left waiting, as with a firewall. */
  setDark(dark: boolean): void;
  /** No more faults for what is sent from now on. */
  calm(): void;
  close(): Promise<void>;
}

/** A number between these two; small ones are as likely as large ones. */
export interface Range {
  least: number;
  most: number;
}

export interface Faults {
  /** Uniform in [0, 1). */
  random: () => number;
  /** A connection ends after so many bytes from the server… */
  bytes: Range;
  /** … or after this time, whichever comes first. */
  lifeMs: Range;
  /** How often (0 to 1) a piece is held back, and for how long at most. */
  delay: { often: number; mostMs: number };
}

export async function startFaultProxy(target: number, { random, bytes, lifeMs, delay }: Faults): Promise<FaultProxy> {
  const open = new Set<() => void>();
  let dark = false;
  const waiting = new Set<() => void>();
  let calm = false;
  let cuts = 0;

  const within = ({ least, most }: Range): number => least * (most / least) ** random();

  const cut = (end: () => void): void => {
    if (calm || !open.has(end)) return;
    cuts += 1;
    end();
  };

  const cutAll = (): void => {
    for (const end of open) {
      cuts += 1;
      end();
    }
  };

  const server = createServer((client) => {
    client.on('error', () => {});
    if (!dark) join(client);
    else if (random() < 0.5) client.resetAndDestroy();
    else waiting.add(() => join(client));
  });

  function join(client: Socket): void {
    const upstream = connect(target, '127.0.0.1');
    const end = (): void => {
      clearTimeout(life);
      open.delete(end);
      client.destroy();
      upstream.destroy();
    };
    const life = setTimeout(() => cut(end), within(lifeMs));
    open.add(end);
    for (const socket of [client, upstream]) socket.on('close', end).on('error', end);
    client.pipe(upstream);
    passOn(upstream, client, within(bytes), end);
  }

  /** Passes on what the server sends until the connection's bytes are spent. */
  function passOn(from: Socket, to: Socket, budget: number, end: () => void): void {
    let left = Math.floor(budget);
    from.on('data', (chunk: Buffer) => {
      const fits = calm || chunk.length <= left;
      left -= chunk.length;
      if (fits) to.write(chunk);
      else to.write(chunk.subarray(0, Math.max(0, left + chunk.length)), () => cut(end));
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
    setDark(value) {
      dark = value;
      if (dark) cutAll();
      else for (const go of waiting) go();
      waiting.clear();
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
