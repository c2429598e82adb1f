import { describe, expect, it } from 'vitest';
import { canPass, nextRetry, type Retry } from './retry.ts';

const full = { code: 'SLW_DAEMON_DISK', message: 'full' };

describe('an update that failed', () => {
  it('is tried again where the reason can pass, and not where the config is the reason', () => {
    expect(canPass(full)).toBe(true);
    expect(canPass({ code: 'SLW_DAEMON_UNIT', message: 'app.service does not start' })).toBe(false);
  });

  it('is tried again after a minute, then more and more slowly, at least every half hour', () => {
    const waits: number[] = [];
    let retry: Retry | null = null;
    for (let tries = 0; tries < 8; tries += 1) {
      retry = nextRetry(retry, 'b', full, 1000);
      waits.push((retry.notBefore - 1000) / 60_000);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
  });

  it('of another target begins anew', () => {
    const retry = nextRetry(nextRetry(null, 'b', full, 0), 'b', full, 0);
    expect(nextRetry(retry, 'c', full, 0)).toMatchObject({ tries: 1, notBefore: 60_000 });
  });
});
