import { describe, expect, it } from 'vitest';
import { DaemonError } from '../../errors.ts';
import { FAILURE_TEXTS } from '../testing/failure-texts.ts';
import { classifyFailure, createOSRun, DEFAULT_RETRY_POLICY, OSFailure, type OSFailureClass } from './os-commands.ts';

describe('a failure of an OS tool', () => {
  it.each(FAILURE_TEXTS)('is $is: $text', ({ text, is }) => {
    expect(classifyFailure(text)).toBe(is);
  });

  it('that is unknown is quoted with the end of its output, in one line and without secrets', () => {
    const output = `begin ${'x'.repeat(10_000)}\nerror: https://shop:abc12@quay.example: the reason\n`;
    const failure = new OSFailure('unknown', 'The OS cannot be changed', output);
    expect(failure.message).toMatch(/x error: https:\/\/shop:\(hidden\)@quay\.example: the reason$/);
    expect(failure.message.length).toBeLessThan(500);
  });

  it('that is a program without an end may be temporary, unless it was cancelled', async () => {
    const stopped = new DaemonError('SLW_DAEMON_HOST', 'bootc switch was stopped because it took longer than 3600 s');
    const attempt = createOSRun(() => Promise.reject(stopped), DEFAULT_RETRY_POLICY);
    const command = { program: 'bootc', args: ['switch'], failing: 'The OS cannot be changed' };
    await expect(attempt(command)).rejects.toMatchObject({
      code: 'SLW_DAEMON_HOST',
      retry: true,
      message: expect.stringMatching(/^The OS cannot be changed\. bootc switch was stopped .* The daemon retries$/),
    });
    await expect(attempt({ ...command, signal: AbortSignal.abort() })).rejects.toBe(stopped);
  });

  it('is retried only if it may be temporary', () => {
    const worth = (failure: OSFailureClass) => new OSFailure(failure, '', '').retry;
    expect((['busy', 'network', 'no space'] as const).map(worth)).toEqual([true, true, true]);
    expect((['unauthorized', 'not found', 'bad image', 'unknown'] as const).map(worth)).toEqual(
      Array.from({ length: 4 }, () => false),
    );
  });
});
