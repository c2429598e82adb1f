import { constants, createGunzip, createZstdDecompress } from 'node:zlib';
import type { Transform } from 'node:stream';

/** Fewer would not tell the formats apart. */
export const magicBytes = 4;

/** 32 MB: what the levels that registries see need. A frame that wants more is refused rather than given the memory. */
const largestZstdWindowLog = 25;
const chunkSize = 64 * 1024;

const gzip = /^1f8b/;
/** A frame, or one to be skipped: some tools begin with those. */
const zstd = /^(28b52ffd|5.2a4d18)/;

/** How the blob is packed, from its first bytes: media types are not always right. Undefined: not at all. */
export function unpackerFor(start: Uint8Array): Transform | undefined {
  const magic = Buffer.from(start).toString('hex');
  if (gzip.test(magic)) return createGunzip({ chunkSize });
  if (!zstd.test(magic)) return undefined;
  return createZstdDecompress({ chunkSize, params: { [constants.ZSTD_d_windowLogMax]: largestZstdWindowLog } });
}
