import type { ProvisioningToken } from './provisioning-tokens.ts';

export interface NextTokens {
  /** Newest first; the first is the one for stubs. */
  tokens: ProvisioningToken[];
  /** When to look again, in milliseconds since 1970. */
  due: number;
}

/**
 * A new token at half of the newest one's life. So a stub is always given one that is good for at least half a
 * lifetime, and by the time a third would come the first has expired: two at most are ever valid.
 */
export function nextTokens(
  kept: readonly ProvisioningToken[],
  now: number,
  lifetime: number,
  mint: () => string,
): NextTokens {
  const valid = kept.filter(({ expires }) => Date.parse(expires) > now).slice(0, 2);
  const [newest] = valid;
  const needed = newest === undefined || halfLife(newest, lifetime) <= now;
  const tokens = needed ? [newToken(mint(), now, lifetime), ...valid].slice(0, 2) : valid;
  return { tokens, due: Math.min(...tokens.map((token, age) => (age === 0 ? halfLife(token, lifetime) : end(token)))) };
}

/** The earlier of two moments, which are one for a token that was made for this lifetime. */
const halfLife = (token: ProvisioningToken, lifetime: number): number =>
  Math.min(Date.parse(token.created) + lifetime / 2, end(token) - lifetime / 2);

const end = ({ expires }: ProvisioningToken): number => Date.parse(expires);

const newToken = (token: string, now: number, lifetime: number): ProvisioningToken => ({
  token,
  created: new Date(now).toISOString(),
  expires: new Date(now + lifetime).toISOString(),
});
