// What an API server stores in its etcd: a snapshot of everything, restored later while the server runs, and the history
// of all values. The server observes the restore through its watches, like any other change.
import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { buffer } from 'node:stream/consumers';
import type { Layout } from './layout.ts';

export interface RememberedObjects {
  /** Restores everything; resolves with the number of objects that had changed. */
  bringBack(): Promise<number>;
}

interface Entry {
  /** In base64, as in all of etcd's gateway. */
  readonly key: string;
  readonly value: string;
  readonly mod_revision: string;
}

/** The API server's own records: restoring these would confuse it. */
const OF_THE_SERVER = ['/registry/leases/kube-system/', '/registry/masterleases/', '/registry/ranges/'];
/** The maximum number of changes in one etcd transaction. */
const AT_ONCE = 100;

async function openAgent(at: Layout): Promise<Agent> {
  const [ca, identity] = await Promise.all([readFile(at.etcdAuthorityCertificate), readFile(at.etcdClient)]);
  return new Agent({ keepAlive: true, ca, cert: identity, key: identity });
}

export async function rememberObjects(at: Layout, etcdPort: number): Promise<RememberedObjects> {
  const agent = await openAgent(at);
  const postToEtcd = <T>(path: string, body: object): Promise<T> =>
    post(`https://127.0.0.1:${etcdPort}${path}`, agent, body);
  const read = async (options: object): Promise<Entry[]> => {
    const all = { key: base64('/registry/'), range_end: base64('/registry0'), ...options };
    const { kvs = [] } = await postToEtcd<{ kvs?: Entry[] }>('/v3/kv/range', all);
    return kvs.filter(({ key }) => !isOfTheServer(key));
  };
  const remembered = new Map((await read({})).map((entry) => [entry.key, entry]));

  return {
    async bringBack() {
      const found = new Map((await read({ keys_only: true })).map(({ key, mod_revision }) => [key, mod_revision]));
      const changed = [...remembered.values()].filter(({ key, mod_revision }) => found.get(key) !== mod_revision);
      const changes = [
        ...[...found.keys()].filter((key) => !remembered.has(key)).map((key) => ({ request_delete_range: { key } })),
        ...changed.map(({ key, value }) => ({ request_put: { key, value } })),
      ];
      for (let first = 0; first < changes.length; first += AT_ONCE) {
        await postToEtcd('/v3/kv/txn', { success: changes.slice(first, first + AT_ONCE) });
      }
      const revisions = changed.length === 0 ? [] : await read({ keys_only: true });
      for (const { key, mod_revision } of revisions) {
        const entry = remembered.get(key);
        if (entry !== undefined) remembered.set(key, { ...entry, mod_revision });
      }
      return changes.length;
    },
  };
}

/** A value of one moment. */
export interface StoredValue {
  /** Such as `/registry/minions/a`. */
  readonly key: string;
  /** JSON, or protobuf with its texts as they are. */
  readonly value: Buffer;
}

export interface StorageHistory {
  /** Every value since the start, also those that were replaced or deleted. The API server discards them after minutes. */
  read(): Promise<StoredValue[]>;
}

interface WatchAnswer {
  readonly result: {
    readonly canceled?: boolean;
    readonly events?: readonly { readonly kv: { key: string; value?: string; mod_revision: string } }[];
  };
}

/** All keys: every revision changes one. */
const ALL = { key: base64('\0'), range_end: base64('\0') };

export async function recordHistory(at: Layout, etcdPort: number): Promise<StorageHistory> {
  const agent = await openAgent(at);
  const url = `https://127.0.0.1:${etcdPort}/v3`;
  const readRevision = async (): Promise<number> => {
    const range = { ...ALL, limit: 1, keys_only: true };
    const { header } = await post<{ header: { revision: string } }>(`${url}/kv/range`, agent, range);
    return Number(header.revision);
  };
  const start = (await readRevision()) + 1;
  return {
    async read() {
      const end = await readRevision();
      const values: StoredValue[] = [];
      if (end < start) return values;
      const create = { create_request: { ...ALL, start_revision: start } };
      for await (const { result } of streamFrom<WatchAnswer>(`${url}/watch`, agent, create)) {
        if (result.canceled === true) throw new Error('etcd has discarded a part of the history');
        const events = result.events ?? [];
        for (const { kv } of events) {
          if (kv.value === undefined) continue;
          values.push({ key: Buffer.from(kv.key, 'base64').toString(), value: Buffer.from(kv.value, 'base64') });
        }
        if (events.some(({ kv }) => Number(kv.mod_revision) >= end)) break;
      }
      return values;
    },
  };
}

/** One JSON document per line, until the caller stops reading. */
async function* streamFrom<T>(url: string, agent: Agent, body: object): AsyncGenerator<T> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const asked = request(url, { agent, method: 'POST', timeout: 30_000 }, resolve);
  asked.on('error', reject).on('timeout', () => asked.destroy(new Error('etcd did not respond within 30 s')));
  asked.end(JSON.stringify(body));
  let rest = '';
  // Ends the connection when the caller stops.
  for await (const chunk of (await promise).setEncoding('utf8')) {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as T;
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function isOfTheServer(key: string): boolean {
  const path = Buffer.from(key, 'base64').toString();
  return OF_THE_SERVER.some((prefix) => path.startsWith(prefix));
}

async function post<T>(url: string, agent: Agent, body: object): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const asked = request(url, { agent, method: 'POST', timeout: 30_000 }, (response) => {
    buffer(response).then((bytes) => resolve({ status: response.statusCode ?? 0, text: bytes.toString() }), reject);
  });
  asked.on('error', reject).on('timeout', () => asked.destroy(new Error('etcd did not respond within 30 s')));
  asked.end(JSON.stringify(body));
  const { status, text } = await promise;
  if (status !== 200) throw new Error(`etcd answered ${status} to ${url}: ${text.slice(0, 500)}`);
  return JSON.parse(text) as T;
}
