import { randomBytes } from 'node:crypto';
import { gzip } from '@slipway/ignition';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHUNK_BYTES, packSnapshot, snapshotDigest, unpackSnapshot } from './pack-snapshot.ts';

describe('a packed snapshot', () => {
  it('unpacks to the same config', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const config: unknown = JSON.parse(JSON.stringify({ value }));
        const { digest, chunks } = await packSnapshot(config);
        expect(await unpackSnapshot(digest, chunks)).toEqual({ ok: true, config });
      }),
      { numRuns: 50 },
    );
  });

  it('has a digest that does not depend on the order of fields', async () => {
    const one = await packSnapshot({ ignition: { version: '3.5.0' }, storage: { files: [] } });
    const other = await packSnapshot({ storage: { files: [] }, ignition: { version: '3.5.0' } });
    expect(one.digest).toBe(other.digest);
    expect(one.digest).toBe(await snapshotDigest({ storage: { files: [] }, ignition: { version: '3.5.0' } }));
    expect(one.digest).toMatch(/^[0-9a-f]{64}$/);
  });

  it('is split into chunks that fit into Secrets, and needs all of them in order', async () => {
    const config = { blob: randomBytes(1_500_000).toString('base64') };
    const { digest, chunks } = await packSnapshot(config);
    expect(chunks.length).toBeGreaterThan(2);
    expect(Math.max(...chunks.map((chunk) => chunk.byteLength))).toBe(CHUNK_BYTES);
    expect(await unpackSnapshot(digest, chunks)).toEqual({ ok: true, config });
    expect(await unpackSnapshot(digest, chunks.slice(0, -1))).toMatchObject({ ok: false });
    expect(await unpackSnapshot(digest, chunks.toReversed())).toMatchObject({ ok: false });
  });

  it('may have any compression ratio', async () => {
    const config = { zeros: '0'.repeat(20_000_000) };
    const { digest, chunks } = await packSnapshot(config);
    expect(await unpackSnapshot(digest, chunks)).toEqual({ ok: true, config });
  });

  it('is refused if its contents do not match the digest', async () => {
    const { digest } = await packSnapshot({ a: 1 });
    const other = await gzip(new TextEncoder().encode('{"a":2}'));
    expect(await unpackSnapshot(digest, [other])).toMatchObject({
      ok: false,
      problem: expect.stringContaining(digest),
    });
  });
});
