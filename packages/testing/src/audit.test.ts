import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isWrite, readAuditLog } from './audit.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'slipway-audit-'));
});
afterAll(() => rm(directory, { recursive: true }));

it('an audit log is read line by line, without an incomplete last line', async () => {
  const line = (user: string, verb: string, resource: string, more: object = {}) =>
    JSON.stringify({
      verb,
      requestReceivedTimestamp: '2026-01-01T00:00:00.000000Z',
      stageTimestamp: '2026-01-01T00:00:01.000000Z',
      user: { username: user },
      responseStatus: { code: 200 },
      objectRef: { resource, namespace: 'shop', name: 'web', ...more },
    });
  const lines = [
    line('a', 'patch', 'pods', { subresource: 'status' }),
    line('b', 'get', 'pods'),
    line('a', 'create', 'events'),
    line('a', 'delete', 'pods').slice(0, 40),
  ];
  const path = join(directory, 'audit.log');
  await writeFile(path, lines.join('\n'));
  const requests = await readAuditLog(path, 'a');
  expect(requests.map(({ text }) => text)).toEqual(['patch pods/status shop/web 200', 'create events shop/web 200']);
  expect(requests.map(isWrite)).toEqual([true, false]);
  expect(requests[0]?.answeredAt.getTime()).toBe(Date.UTC(2026, 0, 1, 0, 0, 1));
  expect(await readAuditLog(path)).toHaveLength(3);
});
