import { describe, expect, it } from 'vitest';
import { gzip } from '../compression.ts';
import { encodeDataUrl } from '../data-url.ts';
import { parse } from '../parse.ts';
import { validate } from '../validate/index.ts';
import { checkContents } from './contents.ts';
import { digest } from './hash.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const text = 'pool ntp.example.com iburst\n';
const plain = encodeDataUrl(bytes(text));
const packed = encodeDataUrl(await gzip(bytes(text)));
const cut = encodeDataUrl((await gzip(bytes(text))).subarray(0, 30));
const zeros = encodeDataUrl(await gzip(new Uint8Array(65 * 1024 * 1024)));
const [sha256, sha512] = await Promise.all([digest(bytes(text), 'SHA-256'), digest(bytes(text), 'SHA-512')]);
const hash = (value: string) => ({ verification: { hash: value } });
// The smallest that looks like a certificate: a sequence that starts with one.
const PEM = '-----BEGIN CERTIFICATE-----\nMAIwAA==\n-----END CERTIFICATE-----\n';

async function check(sections: object, version = '3.4.0'): Promise<string[]> {
  const { ignition = {}, ...rest } = sections as { ignition?: object };
  const { config, report } = parse({ ignition: { version, ...ignition }, ...rest });
  if (config === null) throw new Error(JSON.stringify(report));
  // That a validator finds nothing is what this is about.
  expect(validate(config).filter(({ kind }) => kind === 'error')).toEqual([]);
  return (await checkContents(config)).map(({ path, message }) => `${path}: ${message}`);
}

const files = (...contents: object[]) => ({
  storage: { files: contents.map((each, i) => ({ path: `/${i}`, contents: each })) },
});
const authority = (pem: string) => ({
  ignition: { security: { tls: { certificateAuthorities: [{ source: encodeDataUrl(bytes(pem)) }] } } },
});

describe('a machine can take', () => {
  it.each<[string, object]>([
    ['plain contents', files({ source: plain })],
    ['no contents', files({ source: '' }, { compression: 'gzip' })],
    ['gzip', files({ source: packed, compression: 'gzip' })],
    ['contents with their SHA-256', files({ source: plain, ...hash(`sha256-${sha256}`) })],
    ['contents with their SHA-512, in upper case', files({ source: plain, ...hash(`sha512-${sha512.toUpperCase()}`) })],
    [
      'gzip with the hash of what is in it',
      files({ source: packed, compression: 'gzip', ...hash(`sha512-${sha512}`) }),
    ],
    ['several certificates', authority(`# ours\n${PEM}\ntext\n${PEM}`)],
    ['a certificate with another label', authority(PEM.replaceAll('CERTIFICATE', 'TRUSTED CERTIFICATE'))],
    ['a certificate with headers', authority(PEM.replace('\n', '\nFrom: ours\n\n'))],
    ['a certificate after text that names its first line', authority(`see -----BEGIN CERTIFICATE-----\n${PEM}`)],
    ['a certificate with the line ends of Windows', authority(PEM.replaceAll('\n', '\r\n'))],
  ])('%s', async (_, sections) => {
    expect(await check(sections)).toEqual([]);
  });
});

describe('no machine can take', () => {
  const noGzip =
    'compression: compression is gzip, but the data is not gzip. Compress the contents with gzip, or remove compression';
  it.each<[string, object, string, string?]>([
    ['text as gzip', files({ source: plain, compression: 'gzip' }), `storage.files[0].contents.${noGzip}`],
    [
      'text as gzip in spec 2',
      { storage: { files: [{ filesystem: 'root', path: '/a', contents: { source: plain, compression: 'gzip' } }] } },
      `storage.files[0].contents.${noGzip}`,
      '2.2.0',
    ],
    [
      'half of a gzip file',
      files({ source: cut, compression: 'gzip' }),
      'storage.files[0].contents.compression: compression is gzip, but the gzip data is damaged, incomplete or in several parts',
    ],
    [
      'gzip that unpacks to far too much',
      files({ source: zeros, compression: 'gzip' }),
      'storage.files[0].contents.compression: compression is gzip, but it unpacks to more than 200 times its size',
    ],
    [
      'the hash of the packed contents',
      files({ source: packed, compression: 'gzip', ...hash(`sha256-${'0'.repeat(64)}`) }),
      `storage.files[0].contents.verification.hash: the contents have the hash sha256-${sha256}`,
    ],
    [
      'another SHA-512',
      files({ source: plain, ...hash(`sha512-${'0'.repeat(128)}`) }),
      `storage.files[0].contents.verification.hash: the contents have the hash sha512-${sha512}`,
    ],
    [
      'a wrong part to append',
      { storage: { files: [{ path: '/a', append: [{ source: plain }, { source: plain, compression: 'gzip' }] }] } },
      `storage.files[0].append[1].${noGzip}`,
    ],
    [
      'a wrong key file',
      { storage: { luks: [{ name: 'a', device: '/dev/a', keyFile: { source: plain, compression: 'gzip' } }] } },
      `storage.luks[0].keyFile.${noGzip}`,
    ],
    [
      'a certificate authority that is no PEM',
      authority('certificate'),
      'ignition.security.tls.certificateAuthorities[0].source: it contains no PEM certificate',
    ],
    [
      'a certificate authority with a byte order mark',
      authority(`\u{feff}${PEM}`),
      'ignition.security.tls.certificateAuthorities[0].source: it contains no PEM certificate',
    ],
    [
      'a certificate authority with a private key',
      authority('-----BEGIN PRIVATE KEY-----\nMAMCAQA=\n-----END PRIVATE KEY-----\n' + PEM),
      'ignition.security.tls.certificateAuthorities[0].source: it contains a PEM block that is no certificate: remove it',
    ],
    [
      'a certificate authority without its end',
      authority(PEM.slice(0, 40)),
      'ignition.security.tls.certificateAuthorities[0].source: certificate 1 needs a line -----END CERTIFICATE----- at its end',
    ],
    [
      'a certificate authority that is cut',
      authority(PEM + PEM.replace('MAIwAA==', 'MAIw')),
      'ignition.security.tls.certificateAuthorities[0].source: certificate 2 cannot be read',
    ],
    [
      'a certificate authority with an empty line at its end',
      authority(`${PEM}\n`),
      'ignition.security.tls.certificateAuthorities[0].source: something follows certificate 1, the last one',
    ],
  ])('%s', async (_, sections, expected, version) => {
    expect(await check(sections, version)).toEqual([expect.stringContaining(expected)]);
  });

  it('contents that are too large together, though each is not; the rest is not unpacked', async () => {
    const random = crypto.getRandomValues(new Uint8Array(48 * 1024));
    const half = new Uint8Array(40 * 1024 * 1024);
    // Compresses 100 times: less than a bomb.
    for (let at = 0; at < half.length; at += 4 * 1024 * 1024) half.set(random, at);
    const large = { source: encodeDataUrl(await gzip(half)), compression: 'gzip' };
    const found = await check(files(large, large, large));
    expect(found).toEqual([
      'storage.files[1].contents.source: with these contents, those of the config unpack to more than 64 MiB',
    ]);
  });

  it.each([
    ['small bombs', 2, {}],
    ['wrong hashes', 1, hash(`sha256-${'0'.repeat(64)}`)],
  ])('a thousand %s, and only the first are unpacked', async (_, mebibytes, more) => {
    const source = encodeDataUrl(await gzip(new Uint8Array(mebibytes * 1024 * 1024)));
    const found = await check(files(...Array.from({ length: 1000 }, () => ({ source, compression: 'gzip', ...more }))));
    expect(found.length).toBeGreaterThan(20);
    expect(found.length).toBeLessThan(70);
  });

  it('contents, and only those that are asked for are decoded', async () => {
    const { config } = parse({ ignition: { version: '3.4.0' }, ...files({ source: plain, compression: 'gzip' }) });
    expect(config !== null && (await checkContents(config, (path) => path !== 'storage.files[0].contents'))).toEqual(
      [],
    );
  });
});
