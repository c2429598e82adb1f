import { createManualClock } from '@slipway/testing/manual-clock';
import { describe, expect, it } from 'vitest';
import { computePullLimitMs, pullWithLimit } from './pull-limit.ts';

const MINUTE = 60_000;
const sized = { layers: [{ digest: 'sha256:a', size: 60_000_000 }] };
const stalls = (signal: AbortSignal): Promise<void> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('cancelled')), { once: true });
  });

describe('the time that a pull may take', () => {
  it.each([
    ['0 B', 0, 10],
    ['60 MB', 60_000_000, 20],
    ['1.2 GB', 1_200_000_000, 210],
  ])('for %s', (_, bytes, minutes) => {
    expect(computePullLimitMs(bytes)).toBe(minutes * MINUTE);
  });
});

describe('a pull', () => {
  it('that stalls is ended when its time is over, with the image, the size and the time', async () => {
    const clock = createManualClock();
    const pull = pullWithLimit({ image: 'x@sha256:b', sized, clock, signal: new AbortController().signal }, stalls);
    const ended = pull.catch((error: unknown) => error);
    await clock.advance(20 * MINUTE);
    expect(await ended).toMatchObject({
      code: 'SLW_PINNING_STALLED',
      message: expect.stringMatching(/^the pull of x@sha256:b was ended: expected 60(\.0)? MB within 20 minutes/),
    });
    expect(clock.waits()).toEqual([]);
  });

  it('that is no longer wanted is not reported as stalled', async () => {
    const clock = createManualClock();
    const abort = new AbortController();
    const pull = pullWithLimit({ image: 'x', sized, clock, signal: abort.signal }, stalls);
    abort.abort();
    await expect(pull).rejects.toThrow('cancelled');
    expect(clock.waits()).toEqual([]);
  });

  it('that fails earlier fails as it does', async () => {
    const failing = () => Promise.reject(new Error('no such image'));
    const options = { image: 'x', sized, clock: createManualClock(), signal: new AbortController().signal };
    await expect(pullWithLimit(options, failing)).rejects.toThrow('no such image');
  });
});
