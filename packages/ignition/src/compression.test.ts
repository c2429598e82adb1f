import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeContents, gunzip, gzip } from './compression.ts';
import { decodeDataUrl, encodeDataUrl } from './data-url.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const MEBIBYTE = 1024 * 1024;

describe('gzip', () => {
  it('returns its input, and the same compressed bytes every time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (data) => {
        const packed = await gzip(data);
        expect(await gzip(data)).toEqual(packed);
        expect(await gunzip(packed, { maxBytes: 2000 })).toEqual({ ok: true, bytes: data });
      }),
      { numRuns: 30 },
    );
  });

  it('contains no time, name or operating system', async () => {
    expect([...(await gzip(bytes('x'))).subarray(0, 10)]).toEqual([31, 139, 8, 0, 0, 0, 0, 0, 0, 255]);
  });
});

describe('gunzip', () => {
  it('stops at the size limit', async () => {
    const packed = await gzip(bytes('a line that repeats itself\n'.repeat(1000)));
    expect(await gunzip(packed, { maxBytes: 26_999 })).toMatchObject({ ok: false, reason: 'too-large' });
    expect(await gunzip(packed, { maxBytes: 27_000 })).toMatchObject({ ok: true });
  });

  it('stops a bomb long before the size limit', async () => {
    const bomb = await gzip(new Uint8Array(64 * MEBIBYTE));
    expect(await gunzip(bomb, { maxBytes: 1024 * MEBIBYTE })).toMatchObject({
      ok: false,
      reason: 'bomb',
      problem: expect.stringContaining('200 times'),
    });
  });

  it('allows any compression ratio for small contents', async () => {
    const zeros = await gzip(new Uint8Array(MEBIBYTE));
    expect(await gunzip(zeros, { maxBytes: MEBIBYTE })).toMatchObject({ ok: true });
  });

  it.each([
    ['no bytes at all', async () => new Uint8Array()],
    ['plain text', async () => bytes('hello')],
    ['a truncated stream', async () => (await gzip(bytes('hello'))).slice(0, -3)],
    ['a wrong checksum', async () => (await gzip(bytes('hello'))).fill(0, -8, -4)],
    ['bytes after the end', async () => new Uint8Array([...(await gzip(bytes('hello'))), 1, 2])],
  ])('refuses %s', async (_, data) => {
    expect(await gunzip(await data(), { maxBytes: 100 })).toMatchObject({ ok: false, reason: 'malformed' });
  });
});

describe('contents for a config', () => {
  it('stay plain when small', async () => {
    expect(await encodeContents(bytes('small\n'))).toEqual({ source: 'data:,small%0A' });
  });

  it('are compressed if that makes large text smaller', async () => {
    const long = bytes('net.ipv4.ip_forward = 1\n'.repeat(200));
    const encoded = await encodeContents(long);
    expect(encoded.compression).toBe('gzip');
    expect(encoded.source.length).toBeLessThan(encodeDataUrl(long).length / 10);
    const decoded = decodeDataUrl(encoded.source);
    expect(decoded.ok && (await gunzip(decoded.bytes, { maxBytes: long.length }))).toEqual({ ok: true, bytes: long });
  });

  it('stay uncompressed if gzip would not make them smaller', async () => {
    const noise = crypto.getRandomValues(new Uint8Array(4096));
    expect(await encodeContents(noise)).toEqual({ source: encodeDataUrl(noise) });
  });
});
