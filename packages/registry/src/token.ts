import { isRecord, type JsonRecord, parseJson } from '@slipway/base/json';
import { readBytes } from './bytes.ts';
import { RegistryError } from './errors.ts';
import type { Asked } from './errors.ts';

export interface Token {
  /** The Authorization header that it makes. */
  readonly header: string;
  readonly expiresAt: number;
}

const mostBytes = 256 * 1024;
/** What a token lasts that does not say it, by the protocol. */
const defaultSeconds = 60;
const longestSeconds = 3600;

export async function readToken(body: AsyncIterable<Uint8Array>, asked: Asked, now: number): Promise<Token> {
  const answer = parse((await readBytes(body, mostBytes, asked)).toString('utf8'));
  const token = answer['token'] ?? answer['access_token'];
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
    const text = 'expected a token in one line without blanks, found none. Check the token server of the registry';
    throw new RegistryError('SLW_REGISTRY_ANSWER', text, { asked });
  }
  return { header: `Bearer ${token}`, expiresAt: now + 1000 * secondsIn(answer) };
}

function secondsIn(answer: JsonRecord): number {
  const seconds = answer['expires_in'];
  return typeof seconds === 'number' && seconds > 0 ? Math.min(seconds, longestSeconds) : defaultSeconds;
}

/** The text may hold a token: what is wrong with it is not told. */
function parse(text: string): JsonRecord {
  const parsed = parseJson(text);
  return parsed.ok && isRecord(parsed.value) ? parsed.value : {};
}
