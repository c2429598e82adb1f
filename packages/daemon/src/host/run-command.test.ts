import { describe, expect, it } from 'vitest';
import { createRunner, summarize } from './run-command.ts';

const run = createRunner({ root: '/', graceMs: 100 });
const TIMEOUT_MS = 20_000;

describe('a program of the machine', () => {
  it('gets its arguments unchanged, without a shell, and an English locale', async () => {
    const { status, stdout } = await run({
      program: 'printf',
      args: ['%s|', '$HOME', 'a b', '; id'],
      timeoutMs: TIMEOUT_MS,
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '$HOME|a b|; id|' });
    expect((await run({ program: 'env', args: [], timeoutMs: TIMEOUT_MS })).stdout).toContain('LC_ALL=C\n');
  });

  it('sees nothing of the daemon’s environment', async () => {
    process.env['SLIPWAY_TEST_SECRET'] = 'hidden';
    const { stdout } = await run({ program: 'env', args: [], timeoutMs: TIMEOUT_MS });
    delete process.env['SLIPWAY_TEST_SECRET'];
    expect(stdout).not.toContain('hidden');
  });

  it('returns status, stdout and stderr, and reports lines as they arrive', async () => {
    const lines: string[] = [];
    const args = ['-c', 'echo out; echo err >&2; exit 3'];
    const result = await run({ program: 'sh', args, timeoutMs: TIMEOUT_MS, onLine: (line) => lines.push(line) });
    expect(result).toEqual({ status: 3, stdout: 'out\n', stderr: 'err\n' });
    expect(lines.toSorted()).toEqual(['err', 'out']);
  });

  it('gets secrets on stdin, even if it does not read them', async () => {
    expect((await run({ program: 'cat', args: [], input: 'a secret', timeoutMs: TIMEOUT_MS })).stdout).toBe('a secret');
    expect((await run({ program: 'true', args: [], input: 'x'.repeat(1_000_000), timeoutMs: TIMEOUT_MS })).status).toBe(
      0,
    );
  });

  it('that does not exist is a result, not a failure', async () => {
    expect((await run({ program: 'slipway-no-such-program', args: [], timeoutMs: TIMEOUT_MS })).status).toBeNull();
  });

  it('cannot run without the root of the machine, which differs from a missing program', async () => {
    const elsewhere = createRunner({ root: '/slipway-no-such-root' });
    await expect(elsewhere({ program: 'true', args: [], timeoutMs: TIMEOUT_MS })).rejects.toMatchObject({
      code: 'SLW_DAEMON_HOST',
    });
  });

  it('that takes too long is stopped with all its children', async () => {
    const slow = run({ program: 'sh', args: ['-c', 'sleep 600 & wait'], timeoutMs: 100 });
    await expect(slow).rejects.toThrow(/sh -c was stopped because it took longer than 0.1 s/);
  });

  it('stops when it is cancelled', async () => {
    const controller = new AbortController();
    const slow = run({ program: 'sleep', args: ['600'], timeoutMs: TIMEOUT_MS, signal: controller.signal });
    controller.abort();
    await expect(slow).rejects.toThrow(/was cancelled/);
    await expect(
      run({ program: 'sleep', args: ['600'], timeoutMs: TIMEOUT_MS, signal: controller.signal }),
    ).rejects.toThrow(/was cancelled/);
  });

  it('that prints endlessly is stopped', async () => {
    await expect(run({ program: 'yes', args: [], timeoutMs: TIMEOUT_MS })).rejects.toThrow(/printed more than/);
  });
});

describe('what a program printed', () => {
  it('is summarized in one line, truncated at its start, without secrets', () => {
    expect(summarize(' abc \n', 10)).toBe('abc');
    expect(summarize('0123456789', 4)).toBe('…789');
    expect(summarize('pulling\nerror: http://shop:abc12@proxy:3128 refused\n')).toBe(
      'pulling error: http://shop:(hidden)@proxy:3128 refused',
    );
  });
});
