import { describe, expect, it } from 'vitest';
import { checkToken } from './decide.ts';

const now = Date.parse('2026-01-02T00:00:00Z');
const token = (text: string, expires: string) => ({ token: text, created: '2026-01-01T00:00:00Z', expires });
const tokens = [token('newest', '2026-01-03T00:00:00Z'), token('older', '2026-01-02T00:00:01Z')];

describe('a provisioning token', () => {
  it.each([
    ['the newest one', 'Bearer newest', 'valid'],
    ['the one before, while it lasts', 'Bearer older', 'valid'],
    ['with a scheme in another case', 'bearer newest', 'valid'],
    ['with two blanks', 'Bearer  newest', 'valid'],
    ['another one', 'Bearer other', 'unknown'],
    ['a beginning of it', 'Bearer newes', 'unknown'],
    ['nothing', undefined, 'missing'],
    ['an empty header', '', 'missing'],
    ['only the scheme', 'Bearer ', 'missing'],
    ['another scheme', 'Basic newest', 'missing'],
    ['one of absurd length', `Bearer ${'x'.repeat(513)}`, 'missing'],
  ])('is judged when it is %s', (_, header, verdict) => {
    expect(checkToken(header, tokens, now)).toBe(verdict);
  });

  it('ends with the moment it expires', () => {
    expect(checkToken('Bearer older', tokens, now + 999)).toBe('valid');
    expect(checkToken('Bearer older', tokens, now + 1000)).toBe('expired');
  });

  it('is unknown where the pool has none', () => {
    expect(checkToken('Bearer newest', [], now)).toBe('unknown');
  });

  it('is valid where it stands twice and one has not expired', () => {
    const twice = [token('a', '2026-01-01T00:00:00Z'), token('a', '2026-01-03T00:00:00Z')];
    expect(checkToken('Bearer a', twice, now)).toBe('valid');
  });
});
