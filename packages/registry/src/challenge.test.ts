import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseChallenge } from './authorization.ts';

const bearer = (realm: string, service?: string, scope?: string) => ({ scheme: 'bearer', realm, service, scope });

describe('a challenge', () => {
  it.each([
    ['Basic realm="x"', { scheme: 'basic' }],
    ['basic', { scheme: 'basic' }],
    ['Bearer realm="https://auth.io/token"', bearer('https://auth.io/token')],
    [
      'Bearer realm="https://auth.io/token",service="registry.io",scope="repository:a/b:pull,push"',
      bearer('https://auth.io/token', 'registry.io', 'repository:a/b:pull,push'),
    ],
    ['bearer Realm = "https://a.io/t" , service=plain', bearer('https://a.io/t', 'plain')],
    ['Bearer realm="https://a.io/\\"q"', bearer('https://a.io/"q')],
    ['Basic realm="x", Bearer realm="https://a.io/t"', bearer('https://a.io/t')],
    [['Basic realm="x"', 'Bearer realm="https://a.io/t"'], bearer('https://a.io/t')],
    ['Bearer service="no realm", Basic realm="x"', { scheme: 'basic' }],
    ['Negotiate', undefined],
    ['', undefined],
    [undefined, undefined],
    ['Bearer realm="never ended', bearer('')],
  ])('%j', (header, expected) => {
    expect(parseChallenge(header)).toEqual(expected);
  });

  it('a header that is too long is ignored', () => {
    expect(parseChallenge(`Basic realm="${'x'.repeat(10_000)}"`)).toBeUndefined();
  });

  it('any realm is parsed back unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), fc.string({ unit: 'grapheme-ascii' }), (realm, service) => {
        const escaped = [realm, service].map((text) => text.replaceAll(/["\\]/g, '\\$&'));
        const header = `Basic realm="x", Bearer realm="${escaped[0]}",service="${escaped[1]}"`;
        expect(parseChallenge(header)).toEqual(bearer(realm, service));
      }),
    );
  });
});
