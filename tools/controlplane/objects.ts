// A snapshot of everything an API server stores in its etcd, restored later while the server runs. The server observes
// the restore through its watches, like any other change.
import { readFile } from 'node:fs/promises';
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

export async function rememberObjects(at: Layout, etcdPort: number): Promise<RememberedObjects> {
  const [ca, identity] = await Promise.all([readFile(at.etcdAuthorityCertificate), readFile(at.etcdClient)]);
  const agent = new Agent({ keepAlive: true, ca, cert: identity, key: identity });
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

const base64 = (text: string): string => Buffer.from(text).toString('base64');

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
