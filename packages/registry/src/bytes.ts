import { createHash } from 'node:crypto';
import { readBounded } from '@slipway/base/http';
import { RegistryError } from './errors.ts';
import type { Asked } from './errors.ts';

/** All of an answer, if it is no longer than that. */
export async function readBytes(body: AsyncIterable<Uint8Array>, mostBytes: number, asked: Asked): Promise<Buffer> {
  const bytes = await readBounded(body, mostBytes);
  if (bytes !== null) return bytes;
  const text = `expected at most ${mostBytes} bytes, found more. An image that needs more cannot be read`;
  throw new RegistryError('SLW_REGISTRY_LIMIT', text, { asked });
}

export const digestOf = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

export function checkDigest(expected: string, found: string, asked: Asked): void {
  if (expected !== found) {
    const text = `expected the digest ${expected}, found ${found}. Nothing of it is used: the registry, or what stands between, gives out something else`;
    throw new RegistryError('SLW_REGISTRY_DIGEST', text, { asked });
  }
}

/** What a descriptor says of the size: fewer bytes may come whole another time, more are not the blob. */
export function checkSize(expected: number, found: number, asked: Asked): void {
  if (found < expected) {
    const text = `expected ${expected} bytes, found the end after ${found}. Check what stands between, such as a proxy with a time limit`;
    throw new RegistryError('SLW_REGISTRY_CUT', text, { asked });
  }
  if (found > expected) {
    const text = `expected ${expected} bytes, found more. Nothing of it is used: the registry, or what stands between, gives out something else`;
    throw new RegistryError('SLW_REGISTRY_DIGEST', text, { asked });
  }
}
