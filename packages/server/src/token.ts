import { createHash, timingSafeEqual } from 'node:crypto';
import type { ProvisioningToken } from '@slipway/fleet';

/** `missing`: none was sent; `unknown`: not, or no longer, one of the pool's; `expired`: it was one. */
export type TokenVerdict = 'valid' | 'missing' | 'unknown' | 'expired';

/**
 * Compares with every token, and by digest: how long it takes says neither how much of a token is right nor which one.
 */
export function checkToken(
  authorization: string | undefined,
  tokens: readonly ProvisioningToken[],
  now: number,
): TokenVerdict {
  const sent = /^Bearer +([\w.~+/=-]{1,512})$/i.exec(authorization ?? '')?.[1];
  if (sent === undefined) return 'missing';
  const digest = digestOf(sent);
  const equal = tokens.filter(({ token }) => timingSafeEqual(digestOf(token), digest));
  if (equal.length === 0) return 'unknown';
  return equal.some(({ expires }) => now < Date.parse(expires)) ? 'valid' : 'expired';
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
