import type { Infrastructure } from '@slipway/api';
import { array, decode, type Decoder, object, string, time } from '@slipway/base/codec';

/** Authorises a new machine to request the config of one pool. */
export interface ProvisioningToken {
  /** 256 random bits in base64url. */
  token: string;
  /** RFC 3339, like `expires`. */
  created: string;
  expires: string;
}

const MAX_TOKENS_CHARS = 64 * 1024;
const FORM = /^[A-Za-z0-9_-]{43}$/;

const token: Decoder<ProvisioningToken> = object({ token: string({ pattern: FORM }), created: time, expires: time });

/** The tokens of one pool, newest first, from its key in the tokens Secret; undefined: damaged. */
export function readTokens(text: string): ProvisioningToken[] | undefined {
  const decoded = decode(array(token), text, { maxChars: MAX_TOKENS_CHARS });
  return decoded.ok ? decoded.value : undefined;
}

export interface NextTokens {
  /** Newest first; stubs get the first. */
  tokens: ProvisioningToken[];
  /** When to check again, in milliseconds since 1970. */
  due: number;
}

/**
 * Creates a new token when the newest reaches half of its lifetime. So a stub always gets a token that is valid for at
 * least half a lifetime, and by the time of a third token the first has expired: at most two are valid.
 */
export function nextTokens(
  kept: readonly ProvisioningToken[],
  now: number,
  lifetime: number,
  mint: () => string,
): NextTokens {
  const valid = kept.filter(({ expires }) => Date.parse(expires) > now).slice(0, 2);
  const [newest] = valid;
  const needed = newest === undefined || halfLife(newest, lifetime) <= now || isAhead(newest, now);
  const tokens = needed ? [newToken(mint(), now, lifetime), ...valid].slice(0, 2) : valid;
  return { tokens, due: Math.min(...tokens.map((token, age) => (age === 0 ? halfLife(token, lifetime) : end(token)))) };
}

/** The earlier of two times, which are equal for a token with this lifetime. */
const halfLife = (token: ProvisioningToken, lifetime: number): number =>
  Math.min(Date.parse(token.created) + lifetime / 2, end(token) - lifetime / 2);

const MAX_SKEW_MS = 3_600_000;

/** Created while a clock was ahead: it would be in stubs for longer than its lifetime. Controllers' clocks may differ. */
const isAhead = ({ created }: ProvisioningToken, now: number): boolean => Date.parse(created) > now + MAX_SKEW_MS;

const end = ({ expires }: ProvisioningToken): number => Date.parse(expires);

const newToken = (token: string, now: number, lifetime: number): ProvisioningToken => ({
  token,
  created: new Date(now).toISOString(),
  expires: new Date(now + lifetime).toISOString(),
});

const MAX_WAIT_MS = 3_600_000;
const MIN_WAIT_MS = 50;

/**
 * How long to wait until `due`. At most an hour, because a clock may be set and a machine may sleep. Never zero,
 * because a clock that is slightly behind would cause a hot loop.
 */
export const untilDue = (due: number, now: Date): number =>
  Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, due - now.getTime()));

/** The Secrets of the machine config server, in Slipway's namespace. */
export const serverSecrets = {
  /** The CA: `tls.crt`, `tls.key`, `ca-bundle.crt` (what stubs trust), `cross-signed.crt`. */
  authority: 'machine-config-server-ca',
  /** The serving certificate: `tls.crt` with its intermediates, `tls.key`. */
  serving: 'machine-config-server-tls',
  /** The provisioning tokens, one key per pool. */
  tokens: 'machine-config-server-tokens',
  /** What a joining kubelet starts with: `kubeconfig`, `ca.crt`. */
  kubeconfig: 'machine-config-server-kubeconfig',
} as const;

/** On OpenShift, machines join in another way. The platform status identifies such a cluster. */
export const isOpenShift = (infrastructure: Infrastructure | undefined): boolean =>
  infrastructure?.status?.platformStatus !== undefined;
