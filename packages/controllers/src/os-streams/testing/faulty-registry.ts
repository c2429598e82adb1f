// A proxy of a real registry that spoils good responses on request.
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { sendHalf } from '@slipway/testing/fake-http-server';
import { startHttpFaultProxy } from '@slipway/testing/http-fault-proxy';
import type { RegistryAccess } from '@slipway/tools/registry';

export type ImagePart = 'manifest' | 'config' | 'layer';

interface GoodAnswer {
  readonly part: ImagePart;
  readonly body: Buffer;
}

/** Sends another response, or none. */
export type Fault = (good: GoodAnswer, response: ServerResponse) => void;

interface Request {
  readonly part: ImagePart;
  readonly path: string;
  readonly at: number;
  readonly isSpoilt: boolean;
}

export interface FaultyRegistry {
  /** 127.0.0.1:PORT, in plain http. */
  readonly host: string;
  /** Requests that the registry had a good response for. */
  readonly requests: readonly Request[];
  /** The registry's content of a path, such as /v2/openshift/release/manifests/sha256:…, if it was requested. */
  good(path: string): Buffer | undefined;
  /** Spoils that many of the next responses of that kind. */
  spoil(part: ImagePart, fault: Fault, times?: number): void;
  /** Spoils no more responses. */
  work(): void;
  stop(): Promise<void>;
}

export async function startFaultyRegistry(real: RegistryAccess): Promise<FaultyRegistry> {
  const proxy = await startHttpFaultProxy(real);
  const faults = new Map<ImagePart, { readonly fault: Fault; left: number }>();
  const known = new Map<string, Buffer>();
  const requests: Request[] = [];

  function takeFault(part: ImagePart): Fault | undefined {
    const told = faults.get(part);
    if (told === undefined || told.left === 0) return undefined;
    told.left -= 1;
    return told.fault;
  }

  proxy.add(({ path }) => ({
    kind: 'spoil',
    spoil({ status, body }, response) {
      if (status !== 200) return false;
      known.set(path, body);
      const part = classifyPart(path, body);
      const fault = takeFault(part);
      requests.push({ part, path, at: Date.now(), isSpoilt: fault !== undefined });
      fault?.({ part, body }, response);
      return fault !== undefined;
    },
  }));
  return {
    host: proxy.host,
    requests,
    good: (path) => known.get(path),
    spoil: (part, fault, times = Number.POSITIVE_INFINITY) => faults.set(part, { fault, left: times }),
    work: () => faults.clear(),
    stop: () => proxy.stop(),
  };
}

/** A config is JSON, and no layer starts like that. */
function classifyPart(path: string, body: Buffer): ImagePart {
  if (path.includes('/manifests/')) return 'manifest';
  return body[0] === '{'.charCodeAt(0) ? 'config' : 'layer';
}

export const refuse =
  (status: number, headers: OutgoingHttpHeaders = {}): Fault =>
  (_, response) =>
    void response.writeHead(status, headers).end();

/** The connection ends in the middle. */
export const cut: Fault = ({ body }, response) => sendHalf(response, body, () => response.destroy());

/** Some bytes, and then silence. */
export const fallSilent: Fault = ({ body }, response) => sendHalf(response, body);

export const neverRespond: Fault = () => {};

/** Other bytes than the digest names. */
export const giveInstead =
  (forge: (good: GoodAnswer) => Buffer): Fault =>
  (good, response) =>
    void response.writeHead(200).end(forge(good));
