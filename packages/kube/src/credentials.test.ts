import { rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  belongTogether,
  bothCredentials,
  certificateFileCredentials,
  fixedCredentials,
  tokenExpiry,
  tokenFileCredentials,
} from './credentials.ts';
import { isKubeError } from './errors.ts';
import { makeCertificate } from './testing/certificate.ts';
import { makeScratch } from './testing/scratch.ts';

let age = 0;

/** As the kubelet does it: the new file is complete before it takes the place of the old one. */
async function replace(path: string, content: string): Promise<void> {
  await writeFile(`${path}.new`, content);
  // A clock of its own: two files written within one tick of the file system's clock would look the same.
  age += 1;
  await utimes(`${path}.new`, age, age);
  await rename(`${path}.new`, path);
}

describe('a token file', () => {
  it('gives the new token after the file was replaced', async () => {
    await using scratch = await makeScratch();
    const path = join(scratch.path, 'token');
    await replace(path, 'one\n');
    const credentials = tokenFileCredentials(path, { lookEveryMs: 0 });
    expect(await credentials.current()).toEqual({ token: 'one' });
    await replace(path, 'two\n');
    expect(await credentials.current()).toEqual({ token: 'two' });
  });

  it('is not looked at before every request, but at once after the server refused its token', async () => {
    await using scratch = await makeScratch();
    const path = join(scratch.path, 'token');
    await replace(path, 'one');
    const credentials = tokenFileCredentials(path, { lookEveryMs: 60_000 });
    await credentials.current();
    await replace(path, 'two');
    expect(await credentials.current()).toEqual({ token: 'one' });
    await credentials.refresh();
    expect(await credentials.current()).toEqual({ token: 'two' });
  });

  it.each<[string, string | undefined, string]>([
    ['missing', undefined, 'cannot be read: Error: ENOENT'],
    ['empty', ' \n', 'is empty: expected a bearer token'],
    ['huge', 'x'.repeat(2 ** 20 + 1), 'it is 1048577 bytes long, expected at most 1048576'],
  ])('that is %s is said in one line with its path', async (_, content, expected) => {
    await using scratch = await makeScratch();
    const path = join(scratch.path, 'token');
    if (content !== undefined) await writeFile(path, content);
    await expect(tokenFileCredentials(path).current()).rejects.toSatisfy(
      (error) =>
        isKubeError(error, 'SLW_KUBE_CREDENTIALS') && [path, expected].every((part) => error.message.includes(part)),
    );
  });
});

describe('certificate files', () => {
  it('give the same object while nothing changes, and the new pair after both were replaced', async () => {
    await using scratch = await makeScratch();
    const [cert, key] = [join(scratch.path, 'cert'), join(scratch.path, 'key')];
    const [old, next] = [makeCertificate('old'), makeCertificate('next')];
    await replace(cert, old.cert);
    await replace(key, old.key);
    const credentials = certificateFileCredentials(cert, key, { lookEveryMs: 0 });
    const first = await credentials.current();
    expect(first.certificate).toEqual(old);
    expect((await credentials.current()).certificate).toBe(first.certificate);

    await replace(cert, next.cert);
    expect((await credentials.current()).certificate, 'half replaced: the old pair').toBe(first.certificate);
    await replace(key, next.key);
    expect((await credentials.current()).certificate).toEqual(next);
  });

  it('that do not belong together are said before anything is sent', async () => {
    await using scratch = await makeScratch();
    const [cert, key] = [join(scratch.path, 'cert'), join(scratch.path, 'key')];
    await writeFile(cert, makeCertificate('one').cert);
    await writeFile(key, makeCertificate('other').key);
    await expect(certificateFileCredentials(cert, key).current()).rejects.toMatchObject({
      code: 'SLW_KUBE_CREDENTIALS',
      message: `${key}: expected the private key of the certificate in ${cert}, found another one or none`,
    });
  });

  it('belong together only with the very key', () => {
    const one = makeCertificate('one');
    expect(belongTogether(one)).toBe(true);
    expect(belongTogether({ cert: one.cert, key: makeCertificate('other').key })).toBe(false);
    expect(belongTogether({ cert: one.cert, key: 'no key' })).toBe(false);
    expect(belongTogether({ cert: 'no certificate', key: one.key })).toBe(false);
  });
});

it('a token and a certificate are sent together', async () => {
  const certificate = makeCertificate('one');
  const both = bothCredentials(fixedCredentials({ token: 't' }, 'a'), fixedCredentials({ certificate }, 'b'));
  expect(await both.current()).toEqual({ token: 't', certificate });
  expect(both.source).toBe('a and b');
});

describe('when a token ends', () => {
  const jwt = (claims: unknown): string =>
    ['{}', JSON.stringify(claims), 'signature'].map((part) => Buffer.from(part).toString('base64url')).join('.');

  it.each<[string, string, string | undefined]>([
    ['a JWT says it', jwt({ exp: 1_700_000_000 }), '2023-11-14T22:13:20.000Z'],
    ['a JWT without exp does not', jwt({ sub: 'x' }), undefined],
    ['nor with an exp that is no number', jwt({ exp: 'soon' }), undefined],
    ['nor with one that is no date', jwt({ exp: 1e300 }), undefined],
    ['nor a JWT of null', jwt(null), undefined],
    ['nor an opaque token', 'abcdef', undefined],
    ['nor dots without JSON', 'a.b.c', undefined],
  ])('%s', (_, token, expected) => expect(tokenExpiry(token)?.toISOString()).toBe(expected));
});
