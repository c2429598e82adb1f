import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import type { Server } from 'node:tls';

/** A TLS server that changes its certificate while running, as the machine config server does. */
export async function startTlsServer(data: TlsData): Promise<TlsServer> {
  const server = createServer(toTlsOptions(data), (socket) => socket.end('hello'));
  // A client that rejects the certificate hangs up.
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    swap: (next) => server.setSecureContext(toTlsOptions(next)),
    stop: () => stop(server),
  };
}

export type TlsData = Record<'tls.crt' | 'tls.key', string>;

export interface TlsServer {
  port: number;
  swap(data: TlsData): void;
  stop(): Promise<void>;
}

const toTlsOptions = (data: TlsData) => ({ cert: data['tls.crt'], key: data['tls.key'] });

async function stop(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}

/** What a machine that trusts only this CA receives: `hello`, or the error code of the TLS verification. */
export async function readGreeting(port: number, ca: string, host: string): Promise<string> {
  const address = /^[\d.:a-f]+$/.test(host) ? {} : { servername: host };
  const socket = connect({ host: '127.0.0.1', port, ca, minVersion: 'TLSv1.3', ...address });
  socket.setEncoding('utf8');
  try {
    const [text] = (await once(socket, 'data')) as [string];
    return text;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  } finally {
    socket.destroy();
  }
}
