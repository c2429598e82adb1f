import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import type { MachineConfig } from '@slipway/api';
import { canonicalJson, type ProvisioningToken, renderedName } from '@slipway/fleet';
import { createLog, createMetrics } from '@slipway/kube';
import type { Metrics } from '@slipway/kube';
import { makeSelfSigned } from '@slipway/testing/certificates';
import { defaultLimits, startServer } from '../server.ts';
import type { MachineConfigServer, ServerLimits } from '../server.ts';
import type { Inputs, Source } from '../source.ts';

/** Inputs defined by the test, and a server on them that listens on this machine. */
export interface TestServer extends AsyncDisposable {
  server: MachineConfigServer;
  port: number;
  metrics: Metrics;
  lines: string[];
  machineConfigs: Map<string, MachineConfig>;
  /** Stores the config, and makes it that of pool worker. */
  serve(config: MachineConfig): Promise<void>;
  /** Replaces only the inputs that are passed; resolves when the responses match. */
  change(inputs: Partial<Inputs>): Promise<void>;
  setBehind(behind: boolean): void;
}

export const tokenText = (letter: string): string => letter.repeat(43);
export const buildToken = (letter: string, expires = '2999-01-01T00:00:00Z'): ProvisioningToken => ({
  token: tokenText(letter),
  created: '2026-01-01T00:00:00Z',
  expires,
});

/** A rendered config of pool worker. Its only file has this letter, this many times. */
export function machineConfig(letter: string, bytes = 10): MachineConfig {
  const files = [{ path: '/etc/filling', contents: { source: `data:,${letter.repeat(bytes)}` } }];
  return namedBySpec({ config: { ignition: { version: '3.5.0' }, storage: { files } } });
}

export const namedBySpec = (spec: NonNullable<MachineConfig['spec']>): MachineConfig => ({
  metadata: { name: renderedName('worker', canonicalJson(spec)) },
  spec,
});

export interface TestServerOptions {
  allowAnonymous?: boolean;
  limits?: { [part in keyof ServerLimits]?: Partial<ServerLimits[part]> };
  inputs?: Partial<Inputs>;
  bytes?: number;
}

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const first = machineConfig('a', options.bytes);
  const machineConfigs = new Map([[first.metadata.name, first]]);
  let inputs: Inputs = {
    pools: new Map([['worker', first.metadata.name]]),
    tokens: new Map([['worker', [buildToken('t')]]]),
    node: { kubeconfig: 'kind: Config\n', caBundle: 'CA\n' },
    certificate: await makeSelfSigned('first'),
    problems: [],
    ...options.inputs,
  };
  let behind = false;
  const listeners = new Set<() => void>();
  const source: Source = {
    read: () => inputs,
    async load(name) {
      const found = machineConfigs.get(name);
      if (found === undefined) throw new Error(`no MachineConfig ${name}`);
      return found;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    isBehind: () => behind,
  };
  const lines: string[] = [];
  const metrics = createMetrics();
  const { limits = {} } = options;
  const server = startServer({
    source,
    listen: { host: '127.0.0.1', port: 0 },
    allowAnonymous: options.allowAnonymous ?? false,
    metrics,
    log: createLog({ level: 'debug', pretty: false, write: (line) => lines.push(line) }),
    limits: {
      listen: { ...defaultLimits.listen, ...limits.listen },
      gate: { ...defaultLimits.gate, ...limits.gate },
      send: { ...defaultLimits.send, ...limits.send },
    },
  });
  const { port } = await server.listening;
  await server.settled();
  const change = async (changed: Partial<Inputs>): Promise<void> => {
    inputs = { ...inputs, ...changed };
    for (const listener of listeners) listener();
    await server.settled();
  };
  return {
    server,
    port,
    metrics,
    lines,
    machineConfigs,
    async serve(config) {
      machineConfigs.set(config.metadata.name, config);
      await change({ pools: new Map([['worker', config.metadata.name]]) });
    },
    change,
    setBehind(now) {
      behind = now;
    },
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** By performance.now(), of the first byte. */
  at: number;
}

export interface TestRequest {
  method?: string;
  path?: string;
  token?: string | undefined;
  headers?: Record<string, string>;
}

const localAddress = (from: string | undefined) => (from === undefined ? {} : { localAddress: from });

/** `from`: another address of this machine, such as 127.0.0.2. */
export async function connectTo(port: number, from?: string): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...localAddress(from) });
  await once(socket, 'secureConnect');
  // The tests examine what the other side does to the connection.
  return socket.on('error', () => {});
}

export const openTcp = async (port: number, from?: string) => {
  const socket = connectTcp({ host: '127.0.0.1', port, ...localAddress(from) });
  await once(socket, 'connect');
  return socket.on('error', () => {});
};

export function requestText({
  method = 'GET',
  path = '/config/worker',
  token = tokenText('t'),
  headers = {},
}: TestRequest): string {
  const all = { host: 'server', ...(token === '' ? {} : { authorization: `Bearer ${token}` }), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Sends a request on a new connection and reads until the other side closes it. */
export async function sendRequest(port: number, what: TestRequest = {}, from?: string): Promise<Reply> {
  const socket = await connectTo(port, from);
  socket.write(requestText(what));
  return readReply(socket);
}

export async function readReply(socket: TLSSocket): Promise<Reply> {
  const chunks: Buffer[] = [];
  let at = 0;
  for await (const chunk of socket) {
    at ||= performance.now();
    chunks.push(chunk as Buffer);
  }
  const all = Buffer.concat(chunks);
  const end = all.indexOf('\r\n\r\n');
  const [first = '', ...lines] = all.subarray(0, Math.max(0, end)).toString().split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => line.split(': ', 2)).map(([name = '', value = '']) => [name.toLowerCase(), value]),
  );
  return { status: Number(first.split(' ')[1]), headers, body: all.subarray(end + 4), at };
}
