import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureAuthority, ensureIdentity, type Identity, ToolsError } from '../controlplane/index.ts';
import { resolveNginx, startNginx } from './nginx.ts';

// Without apt there is no nginx: a skip, which CI counts as a failure.
const missing = await resolveNginx().then(
  () => false,
  (error: unknown) => {
    if (error instanceof ToolsError && error.code === 'SLW_TOOLS_NO_APT') return true;
    throw error;
  },
);

let directory: string;
let authority: Identity;
let server: Identity;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'slipway-nginx-test-'));
  authority = await ensureAuthority(join(directory, 'ca.pem'), 'Test CA');
  server = await ensureIdentity(authority, join(directory, 'server.pem'), { commonName: 's', hosts: ['127.0.0.1'] });
});
afterAll(() => rm(directory, { recursive: true }));

async function get(url: string): Promise<{ status: number | undefined; body: Buffer }> {
  const asked = request(url, { ca: authority.certificate, agent: false }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: answer.statusCode, body: await buffer(answer) };
}

describe.skipIf(missing)('nginx', () => {
  it('serves its bytes over TLS, with the requested number of workers, until it is stopped', async () => {
    const bytes = Buffer.alloc(1_000_000, 'config');
    const nginx = await startNginx({ files: { '/config/worker': bytes }, ...server, workers: 2 });
    try {
      const { status, body } = await get(`${nginx.url}/config/worker`);
      expect(status).toBe(200);
      expect(body.equals(bytes)).toBe(true);
      expect((await get(`${nginx.url}/config/other`)).status).toBe(404);
      expect(await nginx.pids()).toHaveLength(3);
      await expect(startNginx({ files: {}, ...server, port: nginx.port })).rejects.toMatchObject({
        code: 'SLW_TOOLS_PORT_TAKEN',
      });
    } finally {
      await nginx.stop();
    }
    await expect(get(nginx.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('that cannot start reports why', async () => {
    await expect(startNginx({ files: {}, ...server, key: 'no key' })).rejects.toMatchObject({
      code: 'SLW_TOOLS_START_FAILED',
      message: expect.stringContaining('tls.key'),
    });
  });
});
