import { once } from 'node:events';
import {
  Agent as PlainAgent,
  request as plainRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { RegistryAccess } from './registry.ts';

type Body = string | AsyncIterable<Uint8Array>;

interface UploadResponse {
  status: number;
  headers: IncomingMessage['headers'];
  body: string;
}

/** Uploads to one repository with the registry's HTTP API. Close it at the end. */
export class Upload {
  readonly #registry: RegistryAccess;
  readonly #repository: string;
  readonly #agent: PlainAgent;
  #authorization: string | undefined;

  private constructor(registry: RegistryAccess, repository: string) {
    this.#registry = registry;
    this.#repository = repository;
    this.#agent = registry.ca === '' ? new PlainAgent({ keepAlive: true }) : new TlsAgent({ keepAlive: true });
  }

  /** Authenticates first: a streamed body cannot be sent twice. */
  static async to(registry: RegistryAccess, repository: string): Promise<Upload> {
    const upload = new Upload(registry, repository);
    const { status, headers } = await upload.#send('GET', `${registry.url}/v2/`);
    if (status === 401) upload.#authorization = await upload.#authorize(headers['www-authenticate'] ?? '');
    return upload;
  }

  /** The digest is known only after the last piece: it is requested then. */
  async blob(pieces: AsyncIterable<Uint8Array>, digest: () => string): Promise<void> {
    const begun = await this.#must(202, 'POST', `${this.#base}/blobs/uploads/`);
    const sent = await this.#must(202, 'PATCH', this.#location(begun), {
      headers: { 'content-type': 'application/octet-stream' },
      body: pieces,
    });
    const end = this.#location(sent);
    end.searchParams.set('digest', digest());
    await this.#must(201, 'PUT', end);
  }

  /** By tag or digest. */
  async manifest(reference: string, mediaType: string, manifest: string): Promise<void> {
    const headers = { 'content-type': mediaType };
    await this.#must(201, 'PUT', `${this.#base}/manifests/${reference}`, { headers, body: manifest });
  }

  async removeManifest(digest: string): Promise<void> {
    await this.#must(202, 'DELETE', `${this.#base}/manifests/${digest}`);
  }

  close(): void {
    this.#agent.destroy();
  }

  get #base(): string {
    return `${this.#registry.url}/v2/${this.#repository}`;
  }

  #location({ headers }: UploadResponse): URL {
    return new URL(headers.location ?? '', this.#registry.url);
  }

  async #authorize(challenge: string): Promise<string> {
    const { username, password } = this.#registry;
    const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
    if (challenge.startsWith('Basic')) return basic;
    const said = new Map([...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]));
    const url = new URL(said.get('realm') ?? '');
    url.searchParams.set('service', said.get('service') ?? '');
    url.searchParams.set('scope', `repository:${this.#repository}:pull,push,delete`);
    const { body } = await this.#must(200, 'GET', url, { headers: { authorization: basic } });
    return `Bearer ${(JSON.parse(body) as { token: string }).token}`;
  }

  async #must(expected: number, method: string, url: string | URL, more: Sent = {}): Promise<UploadResponse> {
    const answer = await this.#send(method, url, more);
    if (answer.status === expected) return answer;
    throw new Error(`${method} ${String(url)}: expected status ${expected}, got ${answer.status}: ${answer.body}`);
  }

  async #send(method: string, url: string | URL, { headers = {}, body = '' }: Sent = {}): Promise<UploadResponse> {
    const { ca } = this.#registry;
    const authorization = this.#authorization === undefined ? {} : { authorization: this.#authorization };
    const common = { method, agent: this.#agent, headers: { ...authorization, ...headers } };
    const asked = ca === '' ? plainRequest(url, common) : tlsRequest(url, { ...common, ca });
    const answered = once(asked, 'response') as Promise<[IncomingMessage]>;
    const [[response]] = await Promise.all([
      answered,
      typeof body === 'string' ? asked.end(body) : pipeline(Readable.from(body, { objectMode: false }), asked),
    ]);
    return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
  }
}

interface Sent {
  headers?: OutgoingHttpHeaders;
  body?: Body;
}
