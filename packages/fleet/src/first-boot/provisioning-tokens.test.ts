import type { Infrastructure } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { isOpenShift, readTokens } from './provisioning-tokens.ts';

const token = { token: 'a'.repeat(43), created: '2026-01-01T00:00:00Z', expires: '2026-01-02T00:00:00Z' };

describe('the tokens of a pool', () => {
  it('decode to what was encoded', () => {
    expect(readTokens(JSON.stringify([token, token]))).toEqual([token, token]);
    expect(readTokens('[]')).toEqual([]);
  });

  it.each([
    ['no JSON', '[{"token":'],
    ['no list', JSON.stringify(token)],
    ['nothing in the list', '[null]'],
    ['a token that is too short', JSON.stringify([{ ...token, token: 'abc' }])],
    ['an invalid time', JSON.stringify([{ ...token, expires: 'tomorrow' }])],
    ['no expiry', JSON.stringify([{ token: token.token, created: token.created }])],
    ['far too much', JSON.stringify(Array.from({ length: 1000 }, () => token))],
  ])('are damaged if there is %s', (_, text) => {
    expect(readTokens(text)).toBeUndefined();
  });
});

describe('the platform', () => {
  const cluster = (status: NonNullable<Infrastructure['status']>): Infrastructure => ({
    metadata: { name: 'cluster' },
    spec: {},
    status,
  });

  it('is OpenShift if it reports its type', () => {
    expect(isOpenShift(undefined)).toBe(false);
    expect(isOpenShift(cluster({ apiServerInternalURI: 'https://api-int.example.com:6443' }))).toBe(false);
    expect(isOpenShift(cluster({ platformStatus: { type: 'None' } }))).toBe(true);
  });
});
