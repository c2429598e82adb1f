import { describe, expect, it } from 'vitest';
import { FAILURE_TEXTS } from '../testing/failure-texts.ts';
import { classifyFailure, OSFailure, type OSFailureClass } from './os-commands.ts';

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

  it('is retried only if it may be temporary', () => {
    const worth = (failure: OSFailureClass) => new OSFailure(failure, '', '').retry;
    expect((['busy', 'network', 'no space'] as const).map(worth)).toEqual([true, true, true]);
    expect((['unauthorized', 'not found', 'bad image', 'unknown'] as const).map(worth)).toEqual(
      Array.from({ length: 4 }, () => false),
    );
  });
});
