import { classifyFailure, createAgent, createDeadline, inspectCertificates, readBounded } from '@slipway/base/http';
import { parseJson } from '@slipway/base/json';
import type { IronicAuth } from '@slipway/fleet/hosts';
import type { Dispatcher } from 'undici';
import { toIronicError, IronicError, readFault } from './ironic-error.ts';

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the address of Ironic, with the query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** What must not stand in any message, though Ironic may repeat it. */
  readonly secrets?: readonly string[];
}

export interface IronicResponse {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Undefined: the body was empty. */
  readonly body: unknown;
  /** For messages about it. */
  readonly asked: string;
}

export interface Transport {
  /** What is not a success is an IronicError. Redirects are not followed: the credentials are for this host alone. */
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
  const authorization = auth === undefined ? {} : { authorization: basic(auth) };
  const hidden = auth === undefined ? [] : [auth.password];

  async function send(call: Call): Promise<IronicResponse> {
    const asked = `${endpoint.host}: ${call.method} ${call.path}`;
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
    // The signal has the time for all of it.
    headersTimeout: 0,
    bodyTimeout: 0,
    signal,
  });

  return {
    send,
    async close() {
      closing.abort(new IronicError('SLW_IRONIC_CLOSED', 'the client of Ironic was closed while it was asked'));
      await agent.destroy();
    },
  };
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
  const text = `expected at most ${maxBytes} bytes, found more. Check that this is the address of an Ironic`;
  throw new IronicError('SLW_IRONIC_LIMIT', text, { asked });
}

function parseBody(text: string, asked: string): unknown {
  if (text === '') return undefined;
  const parsed = parseJson(text);
  if (parsed.ok) return parsed.value;
  const words = `${parsed.problem}. Check that this is the address of an Ironic`;
  throw new IronicError('SLW_IRONIC_ANSWER', words, { asked });
}

const mask = (text: string | undefined, secrets: readonly string[]): string | undefined =>
  secrets.filter((secret) => secret !== '').reduce((masked, secret) => masked?.replaceAll(secret, '***'), text);

// What was said about how to reach Ironic.

const MAX_AUTH = 4096;

const refuse = (text: string): IronicError => new IronicError('SLW_IRONIC_OPTIONS', text);

/** The address of Ironic without its version. */
export function parseEndpoint(text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw refuse('the URL of Ironic: expected http://HOST:PORT or https://HOST:PORT, found something else');
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('the URL of Ironic: expected no user name or password in it. Put them into a file, USERNAME:PASSWORD');
  }
  if (url.search !== '' || url.hash !== '') {
    throw refuse('the URL of Ironic: expected nothing after its path, found a query or a fragment');
  }
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
  return url;
}

/** Refuses what is not certificates: Node passes over them, and the mistake would show as an untrusted Ironic. */
function checkAuthorities(pem: string): void {
  const { found, firstUnreadable } = inspectCertificates(pem);
  if (found === 0) throw refuse('the CA of Ironic: expected certificates in PEM, found none');
  if (firstUnreadable === null) return;
  throw refuse(`the CA of Ironic: expected certificates in PEM, found that number ${firstUnreadable} cannot be read`);
}

/** The one line of a file: USERNAME:PASSWORD. A password may have colons in it. */
export function parseAuth(text: string): IronicAuth {
  const line = text.replace(/\r?\n$/, '');
  const colon = line.indexOf(':');
  // Control characters cannot be sent, and a second line is a mistake. What was found may be a password: it is not shown.
  if (line.length > MAX_AUTH || colon < 1 || colon === line.length - 1 || /\p{Cc}/u.test(line)) {
    throw refuse('the credentials for Ironic: expected one line, USERNAME:PASSWORD, found something else');
  }
  return { username: line.slice(0, colon), password: line.slice(colon + 1) };
}

// What it means that there was no answer, or not all of it.

function noAnswer(error: unknown, asked: string): IronicError {
  const { kind, code } = classifyFailure(error);
  const details = { asked, cause: error };
  switch (kind) {
    case 'timeout':
      return silent(asked, error);
    case 'untrusted': {
      const text = `expected a certificate that is trusted, found one that is not (${code}). Give the authority that signed it (CA of Ironic); it is never accepted unverified`;
      return new IronicError('SLW_IRONIC_TLS', text, details);
    }
    case 'tls': {
      const text = `expected TLS, found something else (${code}). Check the port, and whether the URL begins with http or https`;
      return new IronicError('SLW_IRONIC_TLS', text, details);
    }
    case 'not-http':
      // Not as the cause: it holds the bytes that came.
      return new IronicError('SLW_IRONIC_ANSWER', 'expected HTTP, found something else. Check host and port', {
        asked,
      });
    case 'large-headers':
      return new IronicError('SLW_IRONIC_LIMIT', 'expected headers of a usual size, found more', { asked });
    case 'closed': {
      const text = `expected an answer, found that the connection ended (${code}). Check Ironic's log, and what stands between`;
      return new IronicError('SLW_IRONIC_CUT', text, details);
    }
    case 'unreachable':
    case 'unknown': {
      const text = `expected a connection, found none (${code || 'it broke'}). Check that Ironic runs, its host and port, and the network between`;
      return new IronicError('SLW_IRONIC_UNREACHABLE', text, details);
    }
  }
}

/** What it means that an answer did not come to its end. */
function cutAnswer(error: unknown, asked: string): IronicError {
  const { kind, code } = classifyFailure(error);
  if (kind === 'timeout') return silent(asked, error);
  const text = `expected the whole answer, found that the connection ended in the middle of it (${code || 'no reason given'}). Check Ironic's log, and what stands between`;
  return new IronicError('SLW_IRONIC_CUT', text, { asked, cause: error });
}

const silent = (asked: string, cause: unknown): IronicError =>
  new IronicError(
    'SLW_IRONIC_SILENT',
    'expected an answer, found none in time. Check the load of Ironic, the network between, and whether the BMC of the host answers',
    { asked, cause },
  );
