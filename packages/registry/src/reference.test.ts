import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RegistryError } from './errors.ts';
import { formatReference, parseReference } from './reference.ts';
import type { Reference } from './reference.ts';

const digest = `sha256:${'0a'.repeat(32)}`;

describe('an image reference', () => {
  it.each([
    ['registry.example.com/app', { host: 'registry.example.com', repository: 'app', tag: 'latest' }],
    ['registry.example.com/team/app:1.2', { host: 'registry.example.com', repository: 'team/app', tag: '1.2' }],
    ['Registry.Example.com:5000/a/b/c', { host: 'registry.example.com:5000', repository: 'a/b/c', tag: 'latest' }],
    ['localhost/app', { host: 'localhost', repository: 'app', tag: 'latest' }],
    ['[::1]:5000/app:x', { host: '[::1]:5000', repository: 'app', tag: 'x' }],
    [`quay.io/os/coreos@${digest}`, { host: 'quay.io', repository: 'os/coreos', digest }],
    [`quay.io/os/coreos:4.22@${digest}`, { host: 'quay.io', repository: 'os/coreos', tag: '4.22', digest }],
  ])('%s', (text, expected) => {
    expect(parseReference(text)).toEqual({ tag: undefined, digest: undefined, ...expected });
  });

  it.each([
    ['busybox', 'Short names are not supported'],
    ['library/busybox', '"library" is not a full host name. Short names are not supported'],
    ['', 'the host is missing'],
    ['https://quay.io/app', 'is not a valid host or host:port'],
    ['quay.io/App', 'lower case'],
    ['quay.io/', 'lower case'],
    ['quay.io//app', 'lower case'],
    ['quay.io/../app', 'lower case'],
    ['quay.io/app:', 'the tag'],
    ['quay.io/app:a/b', 'the tag'],
    [`quay.io/app@sha512:${'0'.repeat(128)}`, 'sha256: and 64 characters'],
    [`quay.io/app@${digest}0`, 'sha256: and 64 characters'],
    ['quay.io:99999/app', 'is not a valid host or host:port'],
    ['127.1:5000/app', 'is not a valid host or host:port'],
    ['0x7f.0.0.1/app', 'is not a valid host or host:port'],
    [`quay.io/${'a'.repeat(300)}`, 'longer than 255'],
    [`quay.io/${'a'.repeat(2000)}`, 'longer than 1024'],
    ['quay.io/app\n', 'lower case'],
  ])('%j is rejected with what was expected', (text, why) => {
    const refusal = catchRefusal(text);
    expect(refusal.code).toBe('SLW_REGISTRY_REFERENCE');
    expect(refusal.message).toContain('expected host[:port]/path[:tag][@sha256:…]');
    expect(refusal.message).toContain(why);
    expect(refusal.message).not.toContain('\n');
  });

  it.each(['robot:hunter2@quay.io/app', 'https://robot:hunter2@quay.io/app'])(
    'a login before the host is not quoted in the error (%#)',
    (text) => {
      expect(catchRefusal(text).message).not.toContain('hunter2');
    },
  );

  it('law: a formatted reference is parsed back unchanged', () => {
    const part = fc.stringMatching(/^[a-z0-9]{1,5}([._-][a-z0-9]{1,3})?$/);
    const host = fc.tuple(part, fc.constantFrom('.example.com', 'x:5000', '.io', '.io:443')).map((it) => it.join(''));
    const rest = fc.tuple(
      fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => `/${parts.join('/')}`),
      fc.constantFrom('', ':1', ':v1.2-rc_3'),
      fc.constantFrom('', `@${digest}`),
    );
    fc.assert(
      fc.property(host, rest, (host, [path, tag, digest]) => {
        // A URL parses 0x as a number, so this host is an address in another spelling, and is rejected.
        fc.pre(!/[_]|-[.:]|[.]-|(^|[.])0x:/.test(host));
        const once = parseReference(`${host}${path}${tag}${digest}`);
        expect(parseReference(formatReference(once))).toEqual(once);
      }),
    );
  });

  it('law: every accepted reference is a host and a path in a URL, and everything else is rejected', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a-z.:/@-]{0,40}$/)), (text) => {
        const { host, repository } = readOr(text, parseReference('example.com/refused'));
        expect(new URL(`https://${host}/v2/${repository}/`).pathname).toBe(`/v2/${repository}/`);
      }),
    );
  });
});

function readOr(text: string, otherwise: Reference): Reference {
  try {
    return parseReference(text);
  } catch (error) {
    if (error instanceof RegistryError) return otherwise;
    throw error;
  }
}

function catchRefusal(text: string): RegistryError {
  try {
    parseReference(text);
  } catch (error) {
    if (error instanceof RegistryError) return error;
  }
  throw new Error('it was not refused');
}
