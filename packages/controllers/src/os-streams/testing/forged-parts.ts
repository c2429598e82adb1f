// Well-formed parts of an image that lead to another OS, and differ from the good ones only in their digest.
import { gunzipSync, gzipSync } from 'node:zlib';

/** A config that labels its image with another stream. */
export const forgedConfig = (config: Buffer): Buffer =>
  Buffer.from(config.toString('utf8').replaceAll(/"rhel-\d/g, '"rhel-8'));

const COMMIT = /(?<="io\.openshift\.build\.commit\.id": ")[0-9a-f]{40}/g;
const FILE_NAME_FLAG = 0x08;

/** A layer of a release that names one image instead of another, with the same size. */
export function forgedLayer(layer: Buffer, digest: string, instead: string): Buffer {
  const archive = gunzipSync(layer).toString('latin1');
  // Commits compress well, which leaves space for a digest that compresses worse.
  const forged = archive.replaceAll(digest, instead).replaceAll(COMMIT, 'c'.repeat(40));
  if (!forged.includes(instead) || forged.length !== archive.length) throw new Error(`no ${digest} to be forged`);
  const packed = gzipSync(Buffer.from(forged, 'latin1'), { level: 9 });
  const header = Buffer.from(packed.subarray(0, 10));
  header[3] = FILE_NAME_FLAG;
  // The file name, which readers ignore, fills the rest (RFC 1952, 2.3.1).
  const name = Buffer.from('\0'.padStart(layer.length - packed.length, 'x'));
  const whole = Buffer.concat([header, name, packed.subarray(10)]);
  if (whole.length !== layer.length) throw new Error(`forged to ${whole.length} bytes in place of ${layer.length}`);
  return whole;
}
