import {
  classifyFailure,
  createAgent,
  createDeadline,
  createRestingHosts,
  inspectCertificates,
  parseRetryAfter,
  readBounded,
} from '@slipway/base/http';
import { parseJson } from '@slipway/base/json';
import type { IronicAuth } from '@slipway/fleet/hosts';
import type { Dispatcher } from 'undici';
import { toIronicError, IronicError, readFault } from './ironic-error.ts';

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the address of Ironic, including the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Values that no message may contain, even if Ironic repeats them. */
  readonly secrets?: readonly string[];
}

export interface IronicResponse {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Undefined for an empty body. */
  readonly body: unknown;
  /** For messages about this response. */
  readonly asked: string;
}

export interface Transport {
  /** Throws an IronicError unless it succeeds. Never follows redirects: the credentials are for this host alone. */
  send(call: Call): Promise<IronicResponse>;
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly endpoint: URL;
  readonly ca: string | undefined;
  readonly auth: IronicAuth | undefined;
}

const MAX_BYTES = 1024 * 1024;
const MAX_FAULT_BYTES = 64 * 1024;

export function createTransport({ endpoint, ca, auth }: TransportOptions): Transport {
  const { protocol } = endpoint;
  if (protocol === 'https:' && ca !== undefined) checkAuthorities(ca);
  const agent = createAgent({ protocol, ca });
  const closing = new AbortController();
  const resting = createRestingHosts(() => performance.now());
  const authorization = auth === undefined ? {} : { authorization: basic(auth) };
  const hidden = auth === undefined ? [] : [auth.password];

  async function send(call: Call): Promise<IronicResponse> {
    const asked = `${endpoint.host}: ${call.method} ${call.path}`;
    checkRest(resting.remainingMs(endpoint.host), asked);
    const stopped = AbortSignal.any([closing.signal, ...(call.signal === undefined ? [] : [call.signal])]);
    const deadline = createDeadline(call.timeoutMs, stopped);
    try {
      const response = await agent.request(requestFor(call, deadline.signal)).catch((error: unknown) => {
        stopped.throwIfAborted();
        throw noAnswer(error, asked);
      });
      const { statusCode, headers } = response;
      const isFine = statusCode >= 200 && statusCode < 300;
      const text = await readText(response, isFine ? MAX_BYTES : MAX_FAULT_BYTES, asked, stopped);
      if (isFine) return { headers, body: parseBody(text, asked), asked };
      resting.rest(endpoint.host, parseRetryAfter(headers['retry-after'], Date.now()) ?? 0);
      throw toIronicError(statusCode, mask(readFault(text), [...hidden, ...(call.secrets ?? [])]), asked);
    } finally {
      deadline.cancel();
    }
  }

  const requestFor = ({ method, path, headers, body }: Call, signal: AbortSignal): Dispatcher.RequestOptions => ({
    origin: endpoint.origin,
    path: `${endpoint.pathname.replace(/\/$/, '')}${path}`,
    method,
    headers: {
      'user-agent': 'slipway',
      accept: 'application/json',
      ...authorization,
      ...headers,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    // The signal limits the time of the whole call.
    headersTimeout: 0,
    bodyTimeout: 0,
    signal,
  });

  return {
    send,
    async close() {
      closing.abort(new IronicError('SLW_IRONIC_CLOSED', 'the Ironic client was closed during a call'));
      await agent.destroy();
    },
  };
}

/** Ironic, or a proxy in front of it, asked for a pause: calls fail unsent until it is over. */
function checkRest(ms: number, asked: string): void {
  if (ms === 0) return;
  const text = `it asked for a pause, of which ${Math.ceil(ms / 1000)} s are left. It is not called before`;
  throw new IronicError('SLW_IRONIC_SERVER', text, { asked });
}

const basic = ({ username, password }: IronicAuth): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

async function readText(
  { body }: Dispatcher.ResponseData,
  maxBytes: number,
  asked: string,
  stopped: AbortSignal,
): Promise<string> {
  const bytes = await readBounded(body, maxBytes).catch((error: unknown) => {
    stopped.throwIfAborted();
    throw cutAnswer(error, asked);
  });
  if (bytes !== null) return bytes.toString('utf8');
  const text = `expected at most ${maxBytes} bytes, found more. Check that this is Ironic's address`;
  throw new IronicError('SLW_IRONIC_LIMIT', text, { asked });
}

function parseBody(text: string, asked: string): unknown {
  if (text === '') return undefined;
  const parsed = parseJson(text);
  if (parsed.ok) return parsed.value;
  const words = `${parsed.problem}. Check that this is Ironic's address`;
  throw new IronicError('SLW_IRONIC_ANSWER', words, { asked });
}

const mask = (text: string | undefined, secrets: readonly string[]): string | undefined =>
  secrets.filter((secret) => secret !== '').reduce((masked, secret) => masked?.replaceAll(secret, '***'), text);

// The options for reaching Ironic.

const MAX_AUTH = 4096;

const refuse = (text: string): IronicError => new IronicError('SLW_IRONIC_OPTIONS', text);

/** The address of Ironic, without the version. */
export function parseEndpoint(text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw refuse('the Ironic URL: expected http://HOST:PORT or https://HOST:PORT, found something else');
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('the Ironic URL: expected no user name or password. Put USERNAME:PASSWORD into a file');
  }
  if (url.search !== '' || url.hash !== '') {
    throw refuse('the Ironic URL: expected no query or fragment, found one');
  }
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
  return url;
}

/** Refuses what is not a certificate: Node ignores it, and Ironic would then appear untrusted. */
function checkAuthorities(pem: string): void {
  const { found, firstUnreadable } = inspectCertificates(pem);
  if (found === 0) throw refuse('the Ironic CA: expected PEM certificates, found none');
  if (firstUnreadable === null) return;
  throw refuse(`the Ironic CA: expected PEM certificates, found that certificate ${firstUnreadable} is not readable`);
}

/** A file with one line, USERNAME:PASSWORD. The password may contain colons. */
export function parseAuth(text: string): IronicAuth {
  const line = text.replace(/\r?\n$/, '');
  const colon = line.indexOf(':');
  // Control characters cannot be sent, and a second line is a mistake. The message shows no value: it may be a
  // password.
  if (line.length > MAX_AUTH || colon < 1 || colon === line.length - 1 || /\p{Cc}/u.test(line)) {
    throw refuse('the Ironic credentials: expected one line, USERNAME:PASSWORD, found something else');
  }
  return { username: line.slice(0, colon), password: line.slice(colon + 1) };
}

// Errors for a missing or incomplete response.

function noAnswer(error: unknown, asked: string): IronicError {
  const { kind, code } = classifyFailure(error);
  const details = { asked, cause: error };
  switch (kind) {
    case 'timeout':
      return silent(asked, error);
    case 'untrusted': {
      const text = `expected a trusted certificate, found an untrusted one (${code}). Pass the CA that signed it with --ironic-ca. Slipway never skips verification`;
      return new IronicError('SLW_IRONIC_TLS', text, details);
    }
    case 'tls': {
      const text = `expected TLS, found something else (${code}). Check the port, and whether the URL starts with http or https`;
      return new IronicError('SLW_IRONIC_TLS', text, details);
    }
    case 'not-http':
      // Without the cause, which contains the bytes received.
      return new IronicError('SLW_IRONIC_ANSWER', 'expected HTTP, found something else. Check the host and port', {
        asked,
      });
    case 'large-headers':
      return new IronicError('SLW_IRONIC_LIMIT', 'expected response headers of normal size, found larger ones', {
        asked,
      });
    case 'closed': {
      const text = `expected a response, found that the connection ended (${code}). Check Ironic's log, and any proxy in between`;
      return new IronicError('SLW_IRONIC_CUT', text, details);
    }
    case 'unreachable':
    case 'unknown': {
      const text = `expected a connection, found none (${code || 'connection lost'}). Check that Ironic runs, its host and port, and the network`;
      return new IronicError('SLW_IRONIC_UNREACHABLE', text, details);
    }
  }
}

/** The error for a response that ends early. */
function cutAnswer(error: unknown, asked: string): IronicError {
  const { kind, code } = classifyFailure(error);
  if (kind === 'timeout') return silent(asked, error);
  const text = `expected a complete response, found that the connection ended in the middle of it (${code || 'no reason given'}). Check Ironic's log, and any proxy in between`;
  return new IronicError('SLW_IRONIC_CUT', text, { asked, cause: error });
}

const silent = (asked: string, cause: unknown): IronicError =>
  new IronicError(
    'SLW_IRONIC_SILENT',
    'expected a response, found none in time. Check the load of Ironic, the network, and whether the BMC of the host responds',
    { asked, cause },
  );
