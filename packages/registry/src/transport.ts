import { isIP } from 'node:net';
import {
  checkedLookup,
  classifyFailure,
  createAgent,
  inspectCertificates,
  listCauses,
  resolveHost,
  throwIfStopped,
} from '@slipway/base/http';
import type { Agent, Dispatcher } from 'undici';
import { type RegistryRequest, RegistryError } from './errors.ts';
import type { RedirectRule } from './registry.ts';

export interface RegistryResponse {
  readonly status: number;
  header(name: string): string | string[] | undefined;
  /** The host that responded, after redirects. */
  readonly host: string;
  /** Whether a redirect led to another host. */
  readonly elsewhere: boolean;
  /** Failures are RegistryErrors. Stopping early closes the connection. */
  readonly body: AsyncIterable<Buffer>;
  /** For a response whose body is not needed. */
  discard(): Promise<void>;
}

export interface Exchange {
  readonly url: URL;
  readonly asked: RegistryRequest;
  readonly signal: AbortSignal;
  readonly accept?: string | undefined;
  /** Only for the host of the URL, never for the target of a redirect. */
  readonly authorization?: string | undefined;
  /** How many redirects may be followed. */
  readonly redirects: number;
  /** The host that chose the URL, if it is not the user: then it must be one that this host may send us to. */
  readonly chosenBy?: URL | undefined;
}

export interface Transport {
  get(exchange: Exchange): Promise<RegistryResponse>;
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly silenceMs: number;
  readonly ca: string | undefined;
  /** In the form of `URL.host`. */
  readonly plainHttp: ReadonlySet<string>;
  readonly redirectRule: RedirectRule;
}

const redirectStatuses = new Set([301, 302, 303, 307, 308]);
const MAX_DISCARDED_BYTES = 64 * 1024;

/** Sends requests: always with verified TLS, with plain http only to allowed hosts, and never through a proxy. */
export function createTransport({ silenceMs, ca, plainHttp, redirectRule }: TransportOptions): Transport {
  if (ca !== undefined) checkAuthorities(ca);
  const agents = new Map<string, Agent>();
  /** Each for one request. */
  const passing = new Set<Agent>();

  /** For hosts that the user chose. */
  function agentFor({ protocol }: URL): Agent {
    const agent = agents.get(protocol) ?? createAgent({ protocol, ca, connectTimeoutMs: silenceMs });
    agents.set(protocol, agent);
    return agent;
  }

  /** For a host that another one chose: connects only to addresses that the other one may send us to. */
  async function openChecked(url: URL, chosenBy: URL, asked: RegistryRequest): Promise<Agent> {
    const from = await resolveHost(chosenBy.hostname).catch(() => []);
    const allows = (address: string): boolean => redirectRule(from, address) === null;
    const refuse = (addresses: readonly string[]): RegistryError => {
      const why = addresses.map((address) => `${address}: ${redirectRule(from, address)}`).join('; ');
      const text = `expected an address that ${chosenBy.host} may send clients to, found one that is not allowed (${why}). Check the configuration of the registry, or use a mirror`;
      return new RegistryError('SLW_REGISTRY_REDIRECT', text, { asked });
    };
    const literal = url.hostname.replace(/^\[(.*)\]$/, '$1');
    if (isIP(literal) !== 0 && !allows(literal)) throw refuse([literal]);
    const lookup = checkedLookup({
      allows,
      refuse: (_, addresses) => refuse(addresses.map(({ address }) => address)),
    });
    const agent = createAgent({ protocol: url.protocol, ca, connectTimeoutMs: silenceMs, lookup });
    passing.add(agent);
    return agent;
  }

  async function send(url: URL, asked: RegistryRequest, exchange: Exchange, authorization: string | undefined) {
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && plainHttp.has(url.host))) {
      throw new RegistryError('SLW_REGISTRY_REDIRECT', plainText(url), { asked });
    }
    const { chosenBy = exchange.url } = exchange;
    const isChosen = chosenBy.hostname !== url.hostname;
    const agent = isChosen ? await openChecked(url, chosenBy, asked) : agentFor(url);
    try {
      return await agent.request({
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
    } finally {
      // Waits for the body.
      if (isChosen) void agent.close().finally(() => passing.delete(agent));
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
        const text = `expected a response after at most ${exchange.redirects} redirects, found another redirect to ${next.host}. Check the address of the registry`;
        throw new RegistryError('SLW_REGISTRY_REDIRECT', text, { asked });
      }
      // A redirect back to the original host does not restore trust, because another host chose the target.
      if (next.origin !== url.origin) [elsewhere, authorization] = [true, undefined];
      url = next;
    }
  }

  return {
    get,
    async close() {
      await Promise.all([...agents.values(), ...passing].map((agent) => agent.destroy()));
    },
  };
}

const plainText = (url: URL): string =>
  url.protocol === 'http:'
    ? `expected https, found plain http to ${url.host}. Allow plain http for this host if you trust the network`
    : `expected https, found ${url.protocol}`;

function parseRedirect(answer: RegistryResponse, from: URL, asked: RegistryRequest): URL {
  const location = answer.header('location');
  const target = typeof location === 'string' ? URL.parse(location, from) : null;
  if (target === null || target.username !== '' || target.password !== '') {
    const text = `expected a redirect (${answer.status}) with a valid URL, found none. Check the configuration of the registry`;
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
  // Readers receive the error from the iterator. Without a listener, it would crash the process before they start.
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

/** Rejects invalid certificates. Node ignores them, and the mistake would only show as an untrusted registry. */
function checkAuthorities(pem: string): void {
  const { found, firstUnreadable } = inspectCertificates(pem);
  if (found === 0) throw refuse('found none');
  if (firstUnreadable !== null) throw refuse(`but number ${firstUnreadable} is invalid`);
}

const refuse = (found: string): RegistryError =>
  new RegistryError('SLW_REGISTRY_OPTIONS', `registry CA: expected certificates in PEM, ${found}`);

/** Converts a failure before the response. */
function noAnswer(error: unknown, asked: RegistryRequest): RegistryError {
  const refused = listCauses(error).find((cause) => cause instanceof RegistryError);
  if (refused !== undefined) return refused;
  const { kind, code } = classifyFailure(error);
  const details = { asked, cause: error };
  switch (kind) {
    case 'untrusted': {
      const text = `expected a trusted certificate, found an untrusted one (${code}). Add the authority that signed it (registry CA); unverified certificates are never accepted`;
      return new RegistryError('SLW_REGISTRY_TLS', text, details);
    }
    case 'tls': {
      const text = `expected TLS, found something else (${code}). Check the port. A registry without TLS must be allowed by its host (plain http)`;
      return new RegistryError('SLW_REGISTRY_TLS', text, details);
    }
    case 'timeout':
      return new RegistryError('SLW_REGISTRY_SILENT', `expected a response, ${SILENCE}`, details);
    case 'not-http':
      // Without the cause, which contains the received bytes.
      return new RegistryError('SLW_REGISTRY_ANSWER', 'expected HTTP, found something else. Check the host and port', {
        asked,
      });
    case 'unreachable':
    case 'closed':
    case 'large-headers':
    case 'unknown': {
      const text = `expected a connection, found none (${code || 'no error code'}). Check that the host is running, its name and port, and the network`;
      return new RegistryError('SLW_REGISTRY_UNREACHABLE', text, details);
    }
  }
}

/** Converts a failure during the response. */
function cutAnswer(error: unknown, asked: RegistryRequest): RegistryError {
  const { kind, code } = classifyFailure(error);
  const details = { asked, cause: error };
  if (kind === 'timeout')
    return new RegistryError('SLW_REGISTRY_SILENT', `expected the rest of the response, ${SILENCE}`, details);
  const text = `expected the complete response, but the connection closed early (${code || 'no error code'}). Check the log of the registry, and proxies in between for time limits`;
  return new RegistryError('SLW_REGISTRY_CUT', text, details);
}

const SILENCE = 'but no data arrived before the timeout. Check the load of the host and the network';
