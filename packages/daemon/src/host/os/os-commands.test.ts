import { describe, expect, it } from 'vitest';
import { FAILURE_TEXTS } from '../testing/failure-texts.ts';
import { classifyFailure, OSFailure, type OSFailureClass } from './os-commands.ts';

describe('a failure of an OS tool', () => {
  it.each(FAILURE_TEXTS)('is $is: $text', ({ text, is }) => {
    expect(classifyFailure(text)).toBe(is);
  });

  it('that is unknown is quoted completely, up to the last 4 kB', () => {
    const failure = new OSFailure('unknown', 'The OS cannot be changed', `error: ${'x'.repeat(3000)} the reason`);
    expect(failure.message).toContain(`error: ${'x'.repeat(3000)} the reason`);
    const longer = new OSFailure('unknown', 'The OS cannot be changed', `begin ${'x'.repeat(10_000)} the reason`);
    expect(longer.message).toContain('the reason');
    expect(longer.message.length).toBeLessThan(5000);
  });

  it('is retried only if it may be temporary', () => {
    const worth = (failure: OSFailureClass) => new OSFailure(failure, '', '').retry;
    expect((['busy', 'network', 'no space'] as const).map(worth)).toEqual([true, true, true]);
    expect((['unauthorized', 'not found', 'bad image', 'unknown'] as const).map(worth)).toEqual(
      Array.from({ length: 4 }, () => false),
    );
  });
});
