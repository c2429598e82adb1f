import { isRecord } from '@slipway/base/json';

/** The right of a new machine to ask for the config of one pool. */
export interface ProvisioningToken {
  /** 256 random bits in base64url. */
  token: string;
  /** RFC 3339, as `expires`. */
  created: string;
  expires: string;
}

const largest = 64 * 1024;
const form = /^[A-Za-z0-9_-]{43}$/;

/** The tokens of one pool, newest first, as its key of the tokens' Secret holds them; undefined where that is damaged. */
export function readTokens(text: string): ProvisioningToken[] | undefined {
  if (text.length > largest) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every(isToken) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isToken(value: unknown): value is ProvisioningToken {
  if (!isRecord(value)) return false;
  const { token, created, expires } = value;
  return typeof token === 'string' && form.test(token) && isTime(created) && isTime(expires);
}

const isTime = (value: unknown): boolean => typeof value === 'string' && !Number.isNaN(Date.parse(value));
