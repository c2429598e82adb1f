import type { ContentsReference } from './update-plan.ts';

/** Contents may be secret and large: a plan says only which they are. */
export async function referenceTo(bytes: Uint8Array): Promise<ContentsReference> {
  const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(bytes));
  return { sha256: new Uint8Array(digest).toHex(), size: bytes.length };
}

export function isSameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
