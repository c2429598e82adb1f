// Stands between a real registry and who reads from it, and spoils answers that would have been good, as it is told.
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RegistryAccess } from '@slipway/tools/registry';
import { Agent, request as ask } from 'undici';

export type Part = 'manifest' | 'config' | 'layer';

interface GoodAnswer {
  readonly part: Part;
  readonly body: Buffer;
}

/** Answers in its own way, or not at all. */
export type Fault = (good: GoodAnswer, response: ServerResponse) => void;

interface Request {
  readonly part: Part;
  readonly path: string;
  readonly at: number;
  readonly isSpoilt: boolean;
}

export interface FaultyRegistry {
  /** 127.0.0.1:PORT, in plain http. */
  readonly host: string;
  /** Those that the registry had a good answer for. */
  readonly requests: readonly Request[];
  /** What the registry has for a path, such as /v2/openshift/release/manifests/sha256:…, if it was asked for it. */
  good(path: string): Buffer | undefined;
  /** Spoils so many of the next answers with that part. */
  spoil(part: Part, fault: Fault, times?: number): void;
  /** From now on all answers are good. */
  work(): void;
  stop(): Promise<void>;
}

const passedOn = ['content-type', 'docker-content-digest', 'www-authenticate'] as const;

export async function startFaultyRegistry(real: RegistryAccess): Promise<FaultyRegistry> {
  const agent = new Agent({ connect: { ca: real.ca } });
  const faults = new Map<Part, { readonly fault: Fault; left: number }>();
  const known = new Map<string, Buffer>();
  const requests: Request[] = [];

  function faultFor(part: Part): Fault | undefined {
    const told = faults.get(part);
    if (told === undefined || told.left === 0) return undefined;
    told.left -= 1;
    return told.fault;
  }

  async function answer({ url: path = '/', headers: asked }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { authorization, accept } = asked;
    const { statusCode, headers, body } = await ask(`${real.url}${path}`, {
      dispatcher: agent,
      headers: { ...(authorization !== undefined && { authorization }), ...(accept !== undefined && { accept }) },
    });
    const bytes = Buffer.from(await body.arrayBuffer());
    const part = partOf(path, bytes);
    const at = Date.now();
    if (statusCode === 200) {
      known.set(path, bytes);
      const fault = faultFor(part);
      requests.push({ part, path, at, isSpoilt: fault !== undefined });
      if (fault !== undefined) return fault({ part, body: bytes }, response);
    }
    const kept = passedOn.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]] as const]));
    response.writeHead(statusCode, { 'content-length': bytes.length, ...Object.fromEntries(kept) }).end(bytes);
  }

  const server = createServer((request, response) => {
    // Who reads hears of it as of a gateway whose registry is gone.
    answer(request, response).catch((error: unknown) => response.writeHead(502).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    good: (path) => known.get(path),
    spoil: (part, fault, times = Number.POSITIVE_INFINITY) => faults.set(part, { fault, left: times }),
    work: () => faults.clear(),
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await agent.destroy();
    },
  };
}

/** A config is JSON, and no layer begins like that. */
function partOf(path: string, body: Buffer): Part {
  if (path.includes('/manifests/')) return 'manifest';
  return body[0] === '{'.charCodeAt(0) ? 'config' : 'layer';
}

export const refuse =
  (status: number, headers: OutgoingHttpHeaders = {}): Fault =>
  (_, response) =>
    void response.writeHead(status, headers).end();

/** The connection ends in the middle. */
export const cut: Fault = (good, response) => writeHalf(good, response, () => response.destroy());

/** Something comes, and then nothing more. */
export const fallSilent: Fault = (good, response) => writeHalf(good, response, () => {});

export const sayNothing: Fault = () => {};

/** Other bytes than the digest names. */
export const giveInstead =
  (forge: (good: GoodAnswer) => Buffer): Fault =>
  (good, response) =>
    void response.writeHead(200).end(forge(good));

function writeHalf({ body }: GoodAnswer, response: ServerResponse, then: () => void): void {
  response.writeHead(200, { 'content-length': body.length });
  response.write(body.subarray(0, Math.floor(body.length / 2)), then);
}
