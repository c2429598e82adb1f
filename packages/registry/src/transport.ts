import { classifyFailure, createAgent, inspectCertificates, throwIfStopped } from '@slipway/base/http';
import type { Agent, Dispatcher } from 'undici';
import { type RegistryRequest, RegistryError } from './errors.ts';

export interface RegistryResponse {
  readonly status: number;
  header(name: string): string | string[] | undefined;
  /** Of who answered in the end. */
  readonly host: string;
  /** Whether another host than the one asked answered. */
  readonly elsewhere: boolean;
  /** What goes wrong on the way is a RegistryError. To leave off reading early ends the connection. */
  readonly body: AsyncIterable<Buffer>;
  /** For an answer whose body is of no interest. */
  discard(): Promise<void>;
}

export interface Exchange {
  readonly url: URL;
  readonly asked: RegistryRequest;
  readonly signal: AbortSignal;
  readonly accept?: string | undefined;
  /** Only for the host of the URL: never sent on. */
  readonly authorization?: string | undefined;
  /** How many redirects may be followed. */
  readonly redirects: number;
}

export interface Transport {
  get(exchange: Exchange): Promise<RegistryResponse>;
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly silenceMs: number;
  readonly ca: string | undefined;
  /** As `URL.host` has them. */
  readonly plainHttp: ReadonlySet<string>;
}

const redirectStatuses = new Set([301, 302, 303, 307, 308]);
const MAX_DISCARDED_BYTES = 64 * 1024;

/** Sends requests: TLS verified always, plain http only to whom it is allowed, through no proxy. */
export function createTransport({ silenceMs, ca, plainHttp }: TransportOptions): Transport {
  if (ca !== undefined) checkAuthorities(ca);
  const agents = new Map<string, Agent>();

  function agentFor({ protocol }: URL): Agent {
    const agent = agents.get(protocol) ?? createAgent({ protocol, ca, connectTimeoutMs: silenceMs });
    agents.set(protocol, agent);
    return agent;
  }

  async function send(url: URL, asked: RegistryRequest, exchange: Exchange, authorization: string | undefined) {
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && plainHttp.has(url.host))) {
      throw new RegistryError('SLW_REGISTRY_REDIRECT', plainText(url), { asked });
    }
    try {
      return await agentFor(url).request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: 'GET',
        headers: {
          'user-agent': 'slipway',
          'accept-encoding': 'identity',
          accept: exchange.accept ?? '*/*',
          ...(authorization === undefined ? {} : { authorization }),
        },
        headersTimeout: silenceMs,
        bodyTimeout: silenceMs,
        signal: exchange.signal,
      });
    } catch (error) {
      throwIfStopped(exchange.signal);
      throw noAnswer(error, asked);
    }
  }

  async function get(exchange: Exchange): Promise<RegistryResponse> {
    let { url, authorization } = exchange;
    let elsewhere = false;
    for (let followed = 0; ; followed += 1) {
      const asked = followed === 0 ? exchange.asked : { ...exchange.asked, host: url.host };
      const response = await send(url, asked, exchange, authorization);
      const answer = toResponse(response, asked, exchange.signal, elsewhere);
      if (!redirectStatuses.has(answer.status)) return answer;
      await answer.discard();
      const next = parseRedirect(answer, url, asked);
      if (followed >= exchange.redirects) {
        const text = `expected an answer after at most ${exchange.redirects} redirects, found one more, to ${next.host}. Check the address of the registry`;
        throw new RegistryError('SLW_REGISTRY_REDIRECT', text, { asked });
      }
      // Once the request was elsewhere, a way back does not restore the trust: somebody else has chosen it.
      if (next.origin !== url.origin) [elsewhere, authorization] = [true, undefined];
      url = next;
    }
  }

  return {
    get,
    async close() {
      await Promise.all([...agents.values()].map((agent) => agent.destroy()));
    },
  };
}

const plainText = (url: URL): string =>
  url.protocol === 'http:'
    ? `expected https, found plain http to ${url.host}. Allow it for that host (plain http) if the network between can be trusted`
    : `expected https, found ${url.protocol}`;

function parseRedirect(answer: RegistryResponse, from: URL, asked: RegistryRequest): URL {
  const location = answer.header('location');
  const target = typeof location === 'string' ? URL.parse(location, from) : null;
  if (target === null || target.username !== '' || target.password !== '') {
    const text = `expected a redirect (${answer.status}) with an address, found none that can be used. Check the registry's configuration`;
    throw new RegistryError('SLW_REGISTRY_REDIRECT', text, { asked });
  }
  return target;
}

function toResponse(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  asked: RegistryRequest,
  signal: AbortSignal,
  elsewhere: boolean,
): RegistryResponse {
  // Who reads gets the error from the iterator. With nobody reading yet, it would end the process.
  body.on('error', () => {});
  return {
    status: statusCode,
    header: (name) => headers[name],
    host: asked.host,
    elsewhere,
    body: {
      async *[Symbol.asyncIterator]() {
        try {
          for await (const chunk of body) yield chunk as Buffer;
        } catch (error) {
          throwIfStopped(signal);
          throw cutAnswer(error, asked);
        }
      },
    },
    async discard() {
      await body.dump({ limit: MAX_DISCARDED_BYTES }).catch(() => {});
    },
  };
}

/** Refuses what is not certificates: Node passes over them, and the mistake would show as an untrusted registry. */
function checkAuthorities(pem: string): void {
  const { found, firstUnreadable } = inspectCertificates(pem);
  if (found === 0) throw refuse('found none');
  if (firstUnreadable !== null) throw refuse(`found that number ${firstUnreadable} cannot be read`);
}

const refuse = (found: string): RegistryError =>
  new RegistryError('SLW_REGISTRY_OPTIONS', `registry CA: expected certificates in PEM, ${found}`);

/** What it means that no answer came. */
function noAnswer(error: unknown, asked: RegistryRequest): RegistryError {
  const { kind, code } = classifyFailure(error);
  const details = { asked, cause: error };
  switch (kind) {
    case 'untrusted': {
      const text = `expected a certificate that is trusted, found one that is not (${code}). Give the authority that signed it (registry CA); it is never accepted unverified`;
      return new RegistryError('SLW_REGISTRY_TLS', text, details);
    }
    case 'tls': {
      const text = `expected TLS, found something else (${code}). Check the port; a registry without TLS must be allowed by its host (plain http)`;
      return new RegistryError('SLW_REGISTRY_TLS', text, details);
    }
    case 'timeout':
      return new RegistryError('SLW_REGISTRY_SILENT', `expected an answer, ${SILENCE}`, details);
    case 'not-http':
      // Not as the cause: it holds the bytes that came.
      return new RegistryError('SLW_REGISTRY_ANSWER', 'expected HTTP, found something else. Check host and port', {
        asked,
      });
    case 'unreachable':
    case 'closed':
    case 'large-headers':
    case 'unknown': {
      const text = `expected a connection, found none (${code || 'it broke'}). Check that the host runs, its name and port, and the network between`;
      return new RegistryError('SLW_REGISTRY_UNREACHABLE', text, details);
    }
  }
}

/** What it means that an answer did not come to its end. */
function cutAnswer(error: unknown, asked: RegistryRequest): RegistryError {
  const { kind, code } = classifyFailure(error);
  const details = { asked, cause: error };
  if (kind === 'timeout')
    return new RegistryError('SLW_REGISTRY_SILENT', `expected the rest of the answer, ${SILENCE}`, details);
  const text = `expected the whole answer, found that the connection ended in the middle of it (${code || 'no reason given'}). Check the registry's log and what stands between, such as a proxy with a time limit`;
  return new RegistryError('SLW_REGISTRY_CUT', text, details);
}

const SILENCE = 'found silence for longer than is waited. Check the load of the host and the network between';
