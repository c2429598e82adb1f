// The web server that MachineConfigs name. It does what a test tells it, good or bad, and counts.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface WebServer {
  /** Without a slash at the end. */
  url: string;
  /** Requests so far. */
  requests(): number;
  /** What is answered at a path; anything else is 404. */
  serve(path: string, answer: RequestListener | string | Uint8Array): void;
  /** Nobody answers at its port from now on. */
  stop(): Promise<void>;
  /** On the same port again. */
  start(): Promise<void>;
}

export async function startWebServer(): Promise<WebServer> {
  const answers = new Map<string, RequestListener>();
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    // Whoever is asked for too much is cut off; that is what the test is about.
    response.on('error', () => undefined);
    const answer = answers.get(request.url?.split('?', 1)[0] ?? '');
    if (answer === undefined) response.writeHead(404).end();
    else answer(request, response);
  });
  const listen = (port: number): Promise<void> => new Promise((done) => server.listen(port, '127.0.0.1', done));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    serve(path, answer) {
      answers.set(path, typeof answer === 'function' ? answer : (_, response) => void response.end(answer));
    },
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
    start: () => listen(port),
  };
}

const mebibyte = new Uint8Array(1024 * 1024);

/** A body that never ends; `sent` is told of every mebibyte of it. */
export const endless =
  (sent: () => void): RequestListener =>
  (_, response) => {
    response.writeHead(200, { 'content-length': String(10_000_000_000) });
    const more = (): void => {
      while (!response.destroyed) {
        sent();
        if (!response.write(mebibyte)) return;
      }
    };
    response.on('drain', more);
    more();
  };

export const redirectTo =
  (location: string): RequestListener =>
  (_, response) =>
    void response.writeHead(302, { location }).end();
