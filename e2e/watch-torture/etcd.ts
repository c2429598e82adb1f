import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { run } from '@slipway/tools/run';

/** The etcd below an API server, as the server's own arguments name it. */
export interface Etcd {
  /** Throws away all history up to now, as the API server does every five minutes. */
  compact(): Promise<void>;
}

export async function etcdBelow(apiServerPid: number): Promise<Etcd> {
  const command = await run('ps', ['-ww', '-o', 'args=', '-p', String(apiServerPid)]);
  const argument = (name: string): string => new RegExp(`--${name}=(\\S+)`).exec(command)?.[1] ?? '';
  const [ca, cert, key] = await Promise.all(
    ['etcd-cafile', 'etcd-certfile', 'etcd-keyfile'].map((name) => readFile(argument(name), 'utf8')),
  );

  const post = (path: string, body: object): Promise<{ header?: { revision?: string } }> =>
    new Promise((resolve, reject) => {
      const call = request(
        `${argument('etcd-servers')}${path}`,
        { method: 'POST', ca, cert, key, agent: false },
        (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (part: string) => (text += part));
          answer.on('end', () => {
            if (answer.statusCode === 200) resolve(JSON.parse(text) as { header?: { revision?: string } });
            else reject(new Error(`etcd answered ${answer.statusCode} to ${path}: ${text}`));
          });
        },
      );
      call.on('error', reject);
      call.end(JSON.stringify(body));
    });

  return {
    async compact() {
      const { header } = await post('/v3/maintenance/status', {});
      await post('/v3/kv/compaction', { revision: header?.revision, physical: true });
    },
  };
}
