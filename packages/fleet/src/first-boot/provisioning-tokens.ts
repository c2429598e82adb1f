import type { Infrastructure } from '@slipway/api';
import { array, decode, type Decoder, object, string, time } from '@slipway/base/codec';

/** The right of a new machine to ask for the config of one pool. */
export interface ProvisioningToken {
  /** 256 random bits in base64url. */
  token: string;
  /** RFC 3339, as `expires`. */
  created: string;
  expires: string;
}

const MAX_TOKENS_CHARS = 64 * 1024;
const FORM = /^[A-Za-z0-9_-]{43}$/;

const token: Decoder<ProvisioningToken> = object({ token: string({ pattern: FORM }), created: time, expires: time });

/** The tokens of one pool, newest first, as its key of the tokens' Secret holds them; undefined where that is damaged. */
export function readTokens(text: string): ProvisioningToken[] | undefined {
  const decoded = decode(array(token), text, { maxChars: MAX_TOKENS_CHARS });
  return decoded.ok ? decoded.value : undefined;
}

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

const MAX_WAIT_MS = 3_600_000;
const MIN_WAIT_MS = 50;

/**
 * How long to wait for something that is due at `due`. At most an hour: a clock may be set, a machine may sleep.
 * Never nothing at all: a clock that runs a little behind would have us turn in circles.
 */
export const untilDue = (due: number, now: Date): number =>
  Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, due - now.getTime()));

/** The Secrets, in our namespace, that the machine config server answers from. */
export const serverSecrets = {
  /** The CA: `tls.crt`, `tls.key`, `ca-bundle.crt` (what stubs trust), `cross-signed.crt`. */
  authority: 'machine-config-server-ca',
  /** What the server shows: `tls.crt` with its intermediates, `tls.key`. */
  serving: 'machine-config-server-tls',
  /** One key a pool: its provisioning tokens. */
  tokens: 'machine-config-server-tokens',
  /** What a joining kubelet starts with: `kubeconfig`, `ca.crt`. */
  kubeconfig: 'machine-config-server-kubeconfig',
} as const;

/** OpenShift brings machines of its own, whose stubs have no tokens, and its own way to join. A cluster is one when it says what it runs on. */
export const isOpenShift = (infrastructure: Infrastructure | undefined): boolean =>
  infrastructure?.status?.platformStatus !== undefined;
