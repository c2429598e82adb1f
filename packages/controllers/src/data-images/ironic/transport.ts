import { createSecureContext, getCACertificates } from 'node:tls';
import type { IronicAuth } from '@slipway/fleet/hosts';
import { Agent, type Dispatcher } from 'undici';
import { checkAuthorities } from './endpoint.ts';
import { faultOf, readFault } from './fault.ts';
import { IronicError } from './ironic-error.ts';
import { cutAnswer, noAnswer } from './network-errors.ts';

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

export interface Answer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Undefined: the body was empty. */
  readonly body: unknown;
  /** For messages about it. */
  readonly asked: string;
}

export interface Transport {
  /** What is not a success is an IronicError. Redirects are not followed: the credentials are for this host alone. */
  send(call: Call): Promise<Answer>;
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly endpoint: URL;
  readonly ca: string | undefined;
  readonly auth: IronicAuth | undefined;
}

const MOST_BYTES = 1024 * 1024;
const MOST_FAULT_BYTES = 64 * 1024;

export function createTransport({ endpoint, ca, auth }: TransportOptions): Transport {
  const agent = new Agent({
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: 64 * 1024,
    connect: endpoint.protocol === 'https:' ? trusting(ca) : {},
  });
  const closing = new AbortController();
  const authorization = auth === undefined ? {} : { authorization: basic(auth) };
  const hidden = auth === undefined ? [] : [auth.password];

  async function send(call: Call): Promise<Answer> {
    const { method, path, timeoutMs } = call;
    const asked = `${endpoint.host}: ${method} ${path}`;
    const stops = [closing.signal, ...(call.signal === undefined ? [] : [call.signal])];
    const stopped = AbortSignal.any(stops);
    const signal = AbortSignal.any([...stops, AbortSignal.timeout(timeoutMs)]);
    const options = {
      origin: endpoint.origin,
      path: `${endpoint.pathname.replace(/\/$/, '')}${path}`,
      method,
      headers: {
        'user-agent': 'slipway',
        accept: 'application/json',
        ...authorization,
        ...call.headers,
        ...typeOf(call),
      },
      body: call.body === undefined ? null : JSON.stringify(call.body),
      // The signal has the time for all of it.
      headersTimeout: 0,
      bodyTimeout: 0,
      signal,
    };
    const response = await agent.request(options).catch((error: unknown) => {
      stopped.throwIfAborted();
      throw noAnswer(error, asked);
    });
    const { statusCode, headers } = response;
    const isFine = statusCode >= 200 && statusCode < 300;
    const text = await readText(response, isFine ? MOST_BYTES : MOST_FAULT_BYTES, asked, stopped);
    if (isFine) return { headers, body: parseBody(text, asked), asked };
    const secrets = [...hidden, ...(call.secrets ?? [])];
    throw faultOf(statusCode, mask(readFault(text), secrets), asked);
  }

  return {
    send,
    async close() {
      closing.abort(new IronicError('SLW_IRONIC_CLOSED', 'the client of Ironic was closed while it was asked'));
      await agent.destroy();
    },
  };
}

/** That certificates are verified is said outright, so that no environment variable turns it off. */
function trusting(ca: string | undefined) {
  if (ca !== undefined) checkAuthorities(ca);
  const roots = new Set([...getCACertificates('default'), ...getCACertificates('system')]);
  const all = ca === undefined ? [...roots] : [...roots, ca];
  return { secureContext: createSecureContext({ ca: all }), rejectUnauthorized: true };
}

const basic = ({ username, password }: IronicAuth): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

const typeOf = ({ body }: Call): Record<string, string> =>
  body === undefined ? {} : { 'content-type': 'application/json' };

async function readText(
  { body }: Dispatcher.ResponseData,
  mostBytes: number,
  asked: string,
  stopped: AbortSignal,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > mostBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    stopped.throwIfAborted();
    throw cutAnswer(error, asked);
  }
  if (size <= mostBytes) return Buffer.concat(chunks).toString('utf8');
  const text = `expected at most ${mostBytes} bytes, found more. Check that this is the address of an Ironic`;
  throw new IronicError('SLW_IRONIC_LIMIT', text, { asked });
}

function parseBody(text: string, asked: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    const words = 'expected JSON, found something else. Check that this is the address of an Ironic';
    throw new IronicError('SLW_IRONIC_ANSWER', words, { asked });
  }
}

const mask = (text: string | undefined, secrets: readonly string[]): string | undefined =>
  secrets.filter((secret) => secret !== '').reduce((masked, secret) => masked?.replaceAll(secret, '***'), text);
