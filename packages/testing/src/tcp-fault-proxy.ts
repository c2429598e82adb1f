// A TCP proxy to a server on this machine that fails like a network. It sees only bytes (mostly TLS records), so it
// cuts anywhere: within a record, a line or a handshake.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Random } from './random.ts';

export interface TcpFaultProxy extends AsyncDisposable {
  readonly port: number;
  /** 127.0.0.1:PORT */
  readonly host: string;
  /** Bytes from the server, over all connections. */
  readonly received: number;
  /** Connections ended by a fault. */
  readonly cuts: number;
  /** All connections so far. */
  readonly opened: number;
  /** Connections that are open now. */
  readonly open: number;
  /** Ends the next connection after this many bytes from the server, once. */
  cutAfter(bytes: number): void;
  /** Ends all connections now. */
  cutAll(): void;
  /** After this many more bytes from the server, nothing is forwarded, like a dead line; null: everything is. */
  holdAfter(bytes: number | null): void;
  /** Connections whose other end waits for more. */
  readonly held: number;
  /** Forwards nothing more on the present connections, in both directions, and closes none. New ones work. */
  blackHole(): void;
  /** Closes all connections and refuses new ones. */
  setAway(isAway: boolean): void;
  /** Like a firewall: closes all connections; new ones are refused or left hanging, at random. */
  setDark(isDark: boolean): void;
  /** No more random faults from now on. */
  calm(): void;
  close(): Promise<void>;
}

/** A number between these two; every order of magnitude is equally likely. */
export interface Range {
  readonly least: number;
  readonly most: number;
}

export interface RandomFaults {
  readonly random: Random;
  /** A connection ends after this many bytes from the server… */
  readonly bytes: Range;
  /** … or after this time, whichever comes first. */
  readonly lifeMs: Range;
  /** How often (0 to 1) a piece is delayed, and the maximum delay. */
  readonly delay: { readonly often: number; readonly mostMs: number };
}

/** One connection through the proxy. */
interface Pipe {
  readonly client: Socket;
  readonly upstream: Socket;
  /** Bytes from the server until a random fault ends it. */
  budget: number;
  end(this: void): void;
}

/** Without random faults everything is forwarded until the test changes that. */
export async function startTcpFaultProxy(target: number, faults?: RandomFaults): Promise<TcpFaultProxy> {
  const pipes = new Set<Pipe>();
  const held = new Set<Pipe>();
  const waiting = new Set<Socket>();
  let isAway = false;
  let isDark = false;
  let isCalm = faults === undefined;
  let received = 0;
  let cuts = 0;
  let opened = 0;
  let cutBudget: number | null = null;
  let holdBudget: number | null = null;

  const within = ({ least, most }: Range): number => least * (most / least) ** (faults?.random.next() ?? 0);

  function cut(pipe: Pipe): void {
    if (!pipes.has(pipe)) return;
    cuts += 1;
    pipe.end();
  }
  const cutAll = (): void => pipes.forEach(cut);

  function join(client: Socket): void {
    const upstream = connect(target, '127.0.0.1');
    const life =
      isCalm || faults === undefined ? undefined : setTimeout(() => isCalm || cut(pipe), within(faults.lifeMs));
    const pipe: Pipe = {
      client,
      upstream,
      budget: faults === undefined ? Infinity : Math.floor(within(faults.bytes)),
      end() {
        clearTimeout(life);
        pipes.delete(pipe);
        held.delete(pipe);
        client.destroy();
        upstream.destroy();
      },
    };
    pipes.add(pipe);
    opened += 1;
    for (const socket of [client, upstream]) socket.on('close', pipe.end).on('error', pipe.end);
    client.pipe(upstream);
    upstream.on('data', (chunk: Buffer) => passOn(pipe, chunk));
    upstream.on('end', () => client.end());
  }

  function passOn(pipe: Pipe, chunk: Buffer): void {
    received += chunk.length;
    pipe.budget -= chunk.length;
    if (!isCalm && pipe.budget < 0) {
      pipe.client.write(chunk.subarray(0, Math.max(0, pipe.budget + chunk.length)), () => isCalm || cut(pipe));
    } else {
      pipe.client.write(chunk);
    }
    if (faults !== undefined && !isCalm && faults.random.chance(faults.delay.often)) delay(pipe, faults);
    spendBudgets(pipe, chunk.length);
  }

  function delay({ upstream }: Pipe, { random, delay: { mostMs } }: RandomFaults): void {
    upstream.pause();
    setTimeout(() => upstream.resume(), random.next() * mostMs);
  }

  function spendBudgets(pipe: Pipe, bytes: number): void {
    if (cutBudget !== null && (cutBudget -= bytes) <= 0) {
      cutBudget = null;
      cut(pipe);
    }
    if (holdBudget !== null && (holdBudget -= bytes) <= 0) {
      pipe.upstream.pause();
      held.add(pipe);
    }
  }

  const server = createServer((client) => {
    client.on('error', () => {});
    if (isAway) client.resetAndDestroy();
    else if (!isDark) join(client);
    else if (faults?.random.chance(0.5) === true) client.resetAndDestroy();
    else waiting.add(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  async function close(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    for (const pipe of pipes) pipe.end();
    for (const client of waiting) client.destroy();
    await closed;
  }

  return {
    port,
    host: `127.0.0.1:${port}`,
    get received() {
      return received;
    },
    get cuts() {
      return cuts;
    },
    get opened() {
      return opened;
    },
    get open() {
      return pipes.size;
    },
    get held() {
      return held.size;
    },
    blackHole() {
      for (const { client, upstream } of pipes) {
        client.unpipe(upstream).pause();
        upstream.pause();
      }
    },
    cutAfter(bytes) {
      cutBudget = bytes;
    },
    cutAll,
    holdAfter(bytes) {
      holdBudget = bytes;
      if (bytes !== null) return;
      for (const { upstream } of held) upstream.resume();
      held.clear();
    },
    setAway(away) {
      isAway = away;
      if (away) cutAll();
    },
    setDark(dark) {
      isDark = dark;
      if (dark) return cutAll();
      waiting.forEach(join);
      waiting.clear();
    },
    calm() {
      isCalm = true;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
