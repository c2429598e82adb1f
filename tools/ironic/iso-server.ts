import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A fault of the ISO server: respond with this status; send headers and then stay silent, for which Ironic waits a
 * minute with the node locked; or close the connection halfway.
 */
export type IsoFault = number | 'hang' | 'cut';

export interface IsoServer {
  /** Serves these bytes from now on, and returns their URL. */
  put(name: string, bytes: Uint8Array): string;
  /** Sets the fault for this ISO; undefined ends it and closes the hanging connections. */
  fail(name: string, fault: IsoFault | undefined): void;
  /** The requests, such as `GET /a.iso`. */
  readonly seen: readonly string[];
  /** While down, nothing listens on its port. */
  setDown(down: boolean): Promise<void>;
  stop(): Promise<void>;
}

/** A user's web server for ISOs, which can fail. */
export async function startIsoServer(): Promise<IsoServer> {
  const isos = new Map<string, Buffer>();
  const faults = new Map<string, IsoFault>();
  const seen: string[] = [];
  const hanging = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://isos').pathname;
    seen.push(`${request.method} ${path}`);
    const fault = faults.get(path.slice(1));
    const isHead = request.method === 'HEAD' && typeof fault !== 'number';
    if (fault === undefined || isHead) give(request, response, isos.get(path.slice(1)));
    else if (fault === 'hang') hanging.add(response);
    else failWith(fault, response, isos.get(path.slice(1)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  const close = async () => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return {
    seen,
    put(name, bytes) {
      isos.set(name, Buffer.from(bytes));
      return `http://127.0.0.1:${port}/${name}`;
    },
    fail(name, fault) {
      if (fault !== undefined) {
        faults.set(name, fault);
        return;
      }
      faults.delete(name);
      for (const response of hanging) response.destroy();
      hanging.clear();
    },
    async setDown(down) {
      if (down) return close();
      if (server.listening) return;
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    stop: close,
  };
}

function give(request: IncomingMessage, response: ServerResponse, bytes: Buffer | undefined): void {
  if (bytes === undefined) {
    response.writeHead(404).end();
    return;
  }
  const headers = { 'content-type': 'application/x-iso9660-image', 'accept-ranges': 'bytes' };
  const { status, part, ...range } = selectRange(bytes, request.headers.range ?? '');
  response.writeHead(status, { ...headers, ...range, 'content-length': part.length });
  response.end(request.method === 'HEAD' ? undefined : part);
}

/** Supports one range, open-ended or closed: clients here request nothing else. */
function selectRange(bytes: Buffer, range: string) {
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(range) ?? [];
  if (from === undefined) return { status: 200, part: bytes };
  const part = bytes.subarray(Number(from), to === '' ? undefined : Number(to) + 1);
  const last = Number(from) + part.length - 1;
  return { status: 206, part, 'content-range': `bytes ${from}-${last}/${bytes.length}` };
}

function failWith(fault: number | 'cut', response: ServerResponse, bytes: Buffer = Buffer.alloc(2048)): void {
  if (fault !== 'cut') {
    response.writeHead(fault).end();
    return;
  }
  response.writeHead(200, { 'content-length': bytes.length });
  response.write(bytes.subarray(0, bytes.length / 2), () => response.socket?.destroy());
}
