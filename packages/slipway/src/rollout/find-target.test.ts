import { describe, expect, it } from 'vitest';
import { findTarget } from './find-target.ts';

const [a, b, c] = ['1f2e', '1f3a', '9a8b'].map((start) => `rendered-worker-${start}${'0'.repeat(28)}`);
const names = [a, b, c].map(String);

describe('the rendered config that --to means', () => {
  it.each([
    [String(b), b],
    ['9', c],
    ['1f2', a],
    ['rendered-worker-1f3', b],
  ])('%s', (asked, found) => {
    expect(findTarget(asked, 'worker', names)).toBe(found);
  });

  it('is named whole where another one begins with the same', () => {
    expect(findTarget('rendered-worker-1', 'worker', ['rendered-worker-1', 'rendered-worker-12'])).toBe(
      'rendered-worker-1',
    );
  });

  it.each([
    [
      '1f',
      /has more than one rendered config of that beginning; it has rendered-worker-1f2e0000…, rendered-worker-1f3a0000…\. /,
    ],
    ['', /more than one/],
    ['7', /has no rendered config of that beginning; it has rendered-worker-1f2e0000…, .*slipway history worker/],
  ])('%j is none, and the names there are are said', (asked, message) => {
    expect(() => findTarget(asked, 'worker', names)).toThrow(
      expect.objectContaining({ code: 'SLW_CLI_NO_CONFIG', message: expect.stringMatching(message) }),
    );
  });
});
