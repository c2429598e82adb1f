import { describe, expect, it } from 'vitest';
import { RegistryError } from './errors.ts';
import { parsePullSecret } from './pull-secret.ts';
import { mostSpecific } from './reference.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const formatPullSecret = (auths: unknown): string => JSON.stringify({ auths });

describe('a pull secret', () => {
  it('contains logins as base64 or as name and password', () => {
    const credentials = parsePullSecret(
      formatPullSecret({
        'quay.io': { auth: base64('robot:pass:word') },
        'registry.example.com:5000/team': { username: 'me', password: 'secret', email: 'me@example.com' },
      }),
    );
    expect(Object.fromEntries(credentials)).toEqual({
      'quay.io': { username: 'robot', password: 'pass:word' },
      'registry.example.com:5000/team': { username: 'me', password: 'secret' },
    });
  });

  it.each([
    ['https://index.docker.io/v1/', 'docker.io'],
    ['https://Quay.io', 'quay.io'],
    ['http://localhost:5000/v2/', 'localhost:5000'],
    ['quay.io/team/', 'quay.io/team'],
    ['*.example.com', '*.example.com'],
  ])('the key %s means %s', (key, scope) => {
    expect([...parsePullSecret(formatPullSecret({ [key]: { auth: base64('a:b') } })).keys()]).toEqual([scope]);
  });

  it('an entry without a login, as credential helpers write, is ignored', () => {
    expect(parsePullSecret(formatPullSecret({ 'quay.io': {}, 'ghcr.io': { auth: '' } })).size).toBe(0);
  });

  it.each([
    ['hunter2 is not JSON', 'expected JSON'],
    ['["hunter2"]', 'expected an object with auths, found a list'],
    ['{"quay.io":{"auth":"hunter2"}}', 'auths: expected an object, found nothing'],
    [formatPullSecret({ 'quay.io': 'hunter2' }), 'auths["quay.io"]: expected an object, found a string'],
    [formatPullSecret({ 'quay.io': { auth: 'hunter2!' } }), 'auths["quay.io"].auth: expected base64'],
    [formatPullSecret({ 'quay.io': { auth: base64('hunter2') } }), 'expected base64 of NAME:PASSWORD'],
    [formatPullSecret({ 'quay.io': { auth: 7 } }), 'auths["quay.io"].auth: expected text, found a number'],
    [formatPullSecret({ 'quay.io': { username: 'a:hunter2' } }), 'expected a name without a colon'],
    [formatPullSecret({ 'me:hunter2@quay.io': { auth: base64('a:b') } }), 'expected a host'],
    [
      formatPullSecret({ 'quay.io/app:tag': { auth: base64('a:hunter2') } }),
      'auths["quay.io/app:tag"]: expected a host',
    ],
    [
      formatPullSecret(Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`h${i}.io`, {}]))),
      'at most 1000 entries',
    ],
    [`"${'x'.repeat(1024 * 1024)}"`, 'at most 1048576 characters'],
  ])('an invalid one is rejected without quoting its content (%#)', (text, why) => {
    const refusal = catchRefusal(text);
    expect(refusal.code).toBe('SLW_REGISTRY_PULL_SECRET');
    expect(refusal.message).toContain(why);
    expect(`${refusal.stack}${String(refusal.cause)}`).not.toContain('hunter2');
    expect(refusal.message).not.toContain(base64('hunter2'));
  });
});

describe('the most specific scope wins', () => {
  const scopes = ['example.com', 'example.com/team', 'example.com/team/app', '*.example.com', 'a.example.com'];

  it.each([
    ['example.com/other', 'example.com'],
    ['example.com/team/other', 'example.com/team'],
    ['example.com/team/app', 'example.com/team/app'],
    ['example.com/team/app/part', 'example.com/team/app'],
    ['example.com/teams/app', 'example.com'],
    ['example.com:5000/team', undefined],
    ['a.example.com/app', 'a.example.com'],
    ['b.example.com/app', '*.example.com'],
    ['c.b.example.com/app', '*.example.com'],
    ['evil-example.com/app', undefined],
    ['example.com.evil.org/app', undefined],
  ])('%s belongs to %s', (name, expected) => {
    expect(mostSpecific(scopes, name)).toBe(expected);
    expect(mostSpecific(scopes.toReversed(), name)).toBe(expected);
  });
});

function catchRefusal(text: string): RegistryError {
  try {
    parsePullSecret(text);
  } catch (error) {
    if (error instanceof RegistryError) return error;
  }
  throw new Error('it was not refused');
}
