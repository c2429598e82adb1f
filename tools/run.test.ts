import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isListening, run, startService, tryRun } from './run.ts';

const sh = (script: string): [string, string[]] => ['sh', ['-c', script]];

describe('a program that is run to completion', () => {
  it('returns its output, with its directory and environment', async () => {
    expect(await run(...sh('echo $WORD; pwd; echo aside >&2'), { cwd: '/', env: { WORD: 'here' } })).toBe('here\n/\n');
  });

  it('reports its lines as they arrive', async () => {
    const lines: string[] = [];
    await run(...sh('echo one >&2; echo two >&2'), { onLine: (line) => lines.push(line) });
    expect(lines).toEqual(['one', 'two']);
  });

  it.each([
    ['says why it failed', 'echo "it broke" >&2; exit 3', { end: 'exit code 3', said: 'it broke', isMissing: false }],
    ['says how, if it says nothing itself', 'exit 3', { end: 'exit code 3', said: 'exit code 3' }],
    ['was killed', 'kill -9 $$', { end: 'SIGKILL' }],
    ['runs one that is not there', 'exec no-such-program', { isMissing: true }],
  ])('and %s', async (_, script, error) => {
    await expect(run(...sh(script))).rejects.toMatchObject({ name: 'RunError', ...error });
  });

  it('that does not exist differs from one that fails', async () => {
    await expect(run('no-such-program', [])).rejects.toMatchObject({ isMissing: true });
  });

  it('ends when its time is up', async () => {
    await expect(run('sleep', ['60'], { timeoutMs: 50 })).rejects.toMatchObject({ end: 'SIGTERM' });
  });

  it('returns its exit code on request', async () => {
    expect(await tryRun(...sh('echo out; echo err >&2; exit 7'))).toEqual({ code: 7, out: 'out\n', err: 'err\n' });
  });
});

describe('a program that serves', () => {
  it('is awaited, logs, receives signals and is stopped', async () => {
    const service = startService(
      ...sh('exec >&2; trap "echo heard; exit 5" TERM; echo up; while :; do sleep 0.05; done'),
      {
        name: 'it',
      },
    );
    await service.waitUntil(() => service.log().includes('up'), 10_000);
    expect(service.ended()).toBeUndefined();
    await service.stop();
    expect(service.log()).toBe('up\nheard\n');
    expect(service.ended()).toBe('exit code 5');
    await service.stop();
  });

  it('and exits before it is ready is an error with its log', async () => {
    const service = startService(...sh('echo "no port" >&2; exit 2'), { name: 'it' });
    await expect(service.waitUntil(() => false, 10_000)).rejects.toThrow(
      /^it failed: exited \(exit code 2\).*no port/s,
    );
  });

  it('and cannot be started is an error', async () => {
    const service = startService('no-such-program', [], { name: 'it' });
    await expect(service.waitUntil(() => false, 10_000)).rejects.toThrow(/ENOENT/);
  });

  it('and is not ready in time is an error', async () => {
    const service = startService('sleep', ['60'], { name: 'it' });
    onTestFinished(() => service.stop('SIGKILL'));
    await expect(service.waitUntil(() => false, 100)).rejects.toThrow('is not ready after 0.1 s');
  });

  it('listens at a port or a path, or does not', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'slipway-run-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    for (const at of [0, join(directory, 'socket')]) {
      const server = createServer().listen(typeof at === 'string' ? { path: at } : { port: at, host: '127.0.0.1' });
      await once(server, 'listening');
      const address = server.address();
      const place = typeof address === 'object' && address !== null ? address.port : String(address);
      expect(await isListening(place)).toBe(true);
      server.close();
      await once(server, 'close');
      expect(await isListening(place)).toBe(false);
    }
  });
});
