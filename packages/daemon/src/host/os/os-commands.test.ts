import { describe, expect, it } from 'vitest';
import { FAILURE_TEXTS } from '../testing/failure-texts.ts';
import { classifyFailure, OSFailure, type OSFailureClass } from './os-commands.ts';

describe('a failure of an OS tool', () => {
  it.each(FAILURE_TEXTS)('is $is: $text', ({ text, is }) => {
    expect(classifyFailure(text)).toBe(is);
  });

  it('that nobody has seen before is shown whole, up to 4 kB of its end', () => {
    const failure = new OSFailure('unknown', 'The OS cannot be changed', `error: ${'x'.repeat(3000)} the reason`);
    expect(failure.message).toContain(`error: ${'x'.repeat(3000)} the reason`);
    const longer = new OSFailure('unknown', 'The OS cannot be changed', `begin ${'x'.repeat(10_000)} the reason`);
    expect(longer.message).toContain('the reason');
    expect(longer.message.length).toBeLessThan(5000);
  });

  it('is worth another try only where time may heal it', () => {
    const worth = (failure: OSFailureClass) => new OSFailure(failure, '', '').retry;
    expect((['busy', 'network', 'no space'] as const).map(worth)).toEqual([true, true, true]);
    expect((['unauthorized', 'not found', 'bad image', 'unknown'] as const).map(worth)).toEqual(
      Array.from({ length: 4 }, () => false),
    );
  });
});
