import { show } from '../report.ts';

const ALGORITHMS: Readonly<Record<string, string>> = { sha256: 'SHA-256', sha512: 'SHA-512' };

/** Why the bytes do not match this hash (`sha256-…` or `sha512-…`, over the unpacked contents), or null if they do. */
export async function hashProblem(bytes: Uint8Array, expected: string): Promise<string | null> {
  const dash = expected.indexOf('-');
  const name = dash < 0 ? expected : expected.slice(0, dash);
  const algorithm = Object.hasOwn(ALGORITHMS, name) ? ALGORITHMS[name] : undefined;
  if (dash < 0 || algorithm === undefined) {
    return `the hash ${show(expected)} is neither sha256-<64 hex digits> nor sha512-<128 hex digits>`;
  }
  const found = await digest(bytes, algorithm);
  // The real client decodes the digits, so upper case is the same hash.
  if (found === expected.slice(dash + 1).toLowerCase()) return null;
  return `the contents have the hash ${name}-${found}. If they are right, set verification.hash to it`;
}

export async function digest(bytes: Uint8Array, algorithm: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest(algorithm, new Uint8Array(bytes))).toHex();
}
