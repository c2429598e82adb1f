import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Blob, TestImage } from './image.ts';

/** One request as the server saw it. */
export interface Seen {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  readonly accept: string | undefined;
  /** How many were under way with it. */
  readonly atOnce: number;
}

/** What to do instead of answering; returns true when it did. */
export type Fault = (seen: Seen, response: ServerResponse) => boolean | Promise<boolean>;

/**
 * A registry that gives what is put into it, over real HTTP on the loopback interface, until a test tells it to fail in a
 * way that a healthy one cannot be brought to. Requests are counted by what arrived.
 */
export interface MisbehavingRegistry extends AsyncDisposable {
  /** With the port. */
  readonly host: string;
  readonly seen: Seen[];
  /** The paths that were asked for, shortened to what tells them apart: `manifests/1.0`, `blobs/sha256:…`, `token`. */
  readonly paths: string[];
  /** Puts an image into every repository, by its digests and this tag. */
  put(tag: string, image: TestImage): void;
  putManifest(tag: string, manifest: Blob): void;
  putBlob(blob: Blob): void;
  /** Tried in turn before each answer. */
  fail(fault: Fault): void;
}

export interface ServerTls {
  readonly cert: string;
  readonly key: string;
}

export async function startMisbehavingRegistry(tls?: ServerTls): Promise<MisbehavingRegistry> {
  const seen: Seen[] = [];
  const manifests = new Map<string, Blob>();
  const blobs = new Map<string, Blob>();
  const faults: Fault[] = [];
  const sockets = new Set<Socket>();
  let underWay = 0;

  function give(path: string, response: ServerResponse): void {
    const [, kind, name = ''] = /\/(manifests|blobs)\/(.+)$/.exec(path) ?? [];
    const blob = kind === 'manifests' ? manifests.get(name) : blobs.get(name);
    if (blob === undefined) {
      const code = kind === 'manifests' ? 'MANIFEST_UNKNOWN' : 'BLOB_UNKNOWN';
      response.writeHead(404).end(JSON.stringify({ errors: [{ code }] }));
      return;
    }
    const type = kind === 'manifests' ? blob.mediaType : 'application/octet-stream';
    response.writeHead(200, { 'content-type': type, 'docker-content-digest': blob.digest });
    response.end(blob.bytes);
  }

  async function answer(one: Seen, response: ServerResponse): Promise<void> {
    for (const fault of faults) {
      if (await fault(one, response)) return;
    }
    give(one.path, response);
  }

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '/', 'http://registry');
    underWay += 1;
    response.on('close', () => {
      underWay -= 1;
    });
    const { authorization, accept } = request.headers;
    const one: Seen = { path: url.pathname, query: url.searchParams, authorization, accept, atOnce: underWay };
    seen.push(one);
    void answer(one, response);
  };
  const server = tls === undefined ? createServer(handle) : createTlsServer({ ...tls }, handle);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  const putManifest = (tag: string, manifest: Blob): void => {
    manifests.set(tag, manifest).set(manifest.digest, manifest);
  };
  const putBlob = (blob: Blob): void => {
    blobs.set(blob.digest, blob);
  };

  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    get paths() {
      return seen.map(({ path }) => path.replace(/^.*\/(?=(manifests|blobs)\/)|^\//, ''));
    },
    put(tag, { manifest, config, layers }) {
      putManifest(tag, manifest);
      for (const blob of [config, ...layers]) putBlob(blob);
    },
    putManifest,
    putBlob,
    fail(fault) {
      faults.push(fault);
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Does what the fault does for the first requests of that kind, and then no more. */
export function firstTimes(
  times: number,
  pattern: RegExp,
  fault: (response: ServerResponse, seen: Seen) => void,
): Fault {
  let left = times;
  return (seen, response) => {
    if (left === 0 || !pattern.test(seen.path)) return false;
    left -= 1;
    fault(response, seen);
    return true;
  };
}

export const always = (pattern: RegExp, fault: (response: ServerResponse, seen: Seen) => void): Fault =>
  firstTimes(Number.POSITIVE_INFINITY, pattern, fault);

/** Headers and half of the blob, then the end of the connection. */
export const cutHalfway =
  (blob: Blob) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { 'content-length': blob.bytes.length });
    response.write(blob.bytes.subarray(0, Math.floor(blob.bytes.length / 2)), () => response.socket?.destroy());
  };
