import { describe, expect, it } from 'vitest';
import { createRunner, shorten } from './run-command.ts';

const run = createRunner({ root: '/', graceMs: 100 });
const TIMEOUT_MS = 20_000;

describe('a program of the machine', () => {
  it('gets its arguments as they are, without a shell, and its texts in English', async () => {
    const { status, stdout } = await run({
      program: 'printf',
      args: ['%s|', '$HOME', 'a b', '; id'],
      timeoutMs: TIMEOUT_MS,
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '$HOME|a b|; id|' });
    expect((await run({ program: 'env', args: [], timeoutMs: TIMEOUT_MS })).stdout).toContain('LC_ALL=C\n');
  });

  it('sees nothing of our own environment', async () => {
    process.env['SLIPWAY_TEST_SECRET'] = 'hidden';
    const { stdout } = await run({ program: 'env', args: [], timeoutMs: TIMEOUT_MS });
    delete process.env['SLIPWAY_TEST_SECRET'];
    expect(stdout).not.toContain('hidden');
  });

  it('gives status, stdout and stderr, and its lines as they come', async () => {
    const lines: string[] = [];
    const args = ['-c', 'echo out; echo err >&2; exit 3'];
    const result = await run({ program: 'sh', args, timeoutMs: TIMEOUT_MS, onLine: (line) => lines.push(line) });
    expect(result).toEqual({ status: 3, stdout: 'out\n', stderr: 'err\n' });
    expect(lines.toSorted()).toEqual(['err', 'out']);
  });

  it('can be given what must not be seen on its input, also if it does not read it', async () => {
    expect((await run({ program: 'cat', args: [], input: 'a secret', timeoutMs: TIMEOUT_MS })).stdout).toBe('a secret');
    expect((await run({ program: 'true', args: [], input: 'x'.repeat(1_000_000), timeoutMs: TIMEOUT_MS })).status).toBe(
      0,
    );
  });

  it('that is not there is no failure but an answer', async () => {
    expect((await run({ program: 'slipway-no-such-program', args: [], timeoutMs: TIMEOUT_MS })).status).toBeNull();
  });

  it('cannot be run where the root of the machine is not, which is not the same as that there is none', async () => {
    const elsewhere = createRunner({ root: '/slipway-no-such-root' });
    await expect(elsewhere({ program: 'true', args: [], timeoutMs: TIMEOUT_MS })).rejects.toMatchObject({
      code: 'SLW_DAEMON_HOST',
    });
  });

  it('that takes too long is ended, with all that it has started', async () => {
    const slow = run({ program: 'sh', args: ['-c', 'sleep 600 & wait'], timeoutMs: 100 });
    await expect(slow).rejects.toThrow(/sh -c was ended because it took longer than 0.1 s/);
  });

  it('ends when it is called off', async () => {
    const controller = new AbortController();
    const slow = run({ program: 'sleep', args: ['600'], timeoutMs: TIMEOUT_MS, signal: controller.signal });
    controller.abort();
    await expect(slow).rejects.toThrow(/called off/);
    await expect(
      run({ program: 'sleep', args: ['600'], timeoutMs: TIMEOUT_MS, signal: controller.signal }),
    ).rejects.toThrow(/called off/);
  });

  it('that prints without end is ended', async () => {
    await expect(run({ program: 'yes', args: [], timeoutMs: TIMEOUT_MS })).rejects.toThrow(/printed more than/);
  });
});

describe('a text that is too long', () => {
  it('is cut at its beginning', () => {
    expect(shorten(' abc \n', 10)).toBe('abc');
    expect(shorten('0123456789', 4)).toBe('…789');
  });
});
