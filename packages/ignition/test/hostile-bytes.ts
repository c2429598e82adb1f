/** A small, fast random generator with a seed (mulberry32): a hundred thousand inputs need no shrinking. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

type Random = (below: number) => number;

const TOKENS = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  '\\',
  '\\u',
  '\\ud800',
  'null',
  'true',
  '1e999',
  '-',
  '0.1',
  '{"a":',
  '"__proto__":{"x":1},',
  '"ignition":{"version":"3.5.0"},',
  '\u0000',
  '\ufeff',
  '\u202e',
  '😀',
  '%',
  '%%',
  '%zz',
  'data:;base64,',
  'data:;a=b;',
  '//',
  '/../',
  '[Unit]',
  '\\\n',
  'sha512-',
  'arn:aws:s3:::',
  '9'.repeat(400),
].map((token) => new TextEncoder().encode(token));

/** Applies one to eight mutations to a copy: bits, bytes, ranges and tokens, at random positions. */
export function mutateBytes(bytes: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  let changed: Uint8Array = bytes.slice();
  for (let left = 1 + random(1 + random(8)); left > 0; left -= 1) changed = harmBytes(changed, other, random);
  return changed;
}

function harmBytes(bytes: Uint8Array, other: Uint8Array, random: Random): Uint8Array {
  const at = random(bytes.length + 1);
  const length = random(Math.min(64, bytes.length - at + 1));
  switch (random(8)) {
    case 0:
      return bytes.map((byte, index) => (index === at ? byte ^ (1 << random(8)) : byte));
    case 1:
      return bytes.map((byte, index) => (index >= at && index < at + length ? random(256) : byte));
    case 2:
      return join(bytes.subarray(0, at), bytes.subarray(at + length));
    case 3:
      return join(bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at));
    case 4:
      return bytes.slice(0, at);
    case 5:
      return join(bytes.subarray(0, at), other.subarray(random(other.length)));
    default:
      return join(bytes.subarray(0, at), TOKENS[random(TOKENS.length)] ?? bytes, bytes.subarray(at));
  }
}

function join(...parts: Uint8Array[]): Uint8Array {
  return Buffer.concat(parts);
}
