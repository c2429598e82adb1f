// Random values of the kinds that secrets have.
import type { Random } from './random.ts';

export interface Draw {
  /** Letters and digits. */
  readonly word: (length: number) => string;
  readonly lower: (length: number) => string;
  readonly upper: (length: number) => string;
  readonly hex: (length: number) => string;
  readonly digits: (length: number) => string;
  /** With the characters that passwords have. */
  readonly password: (length?: number) => string;
  /** Of random bytes. */
  readonly base64: (bytes: number) => string;
  /** A body of PEM: lines of 64 characters. `first` bytes are the start of its DER. */
  readonly pemLines: (first: readonly number[]) => string[];
}

export type Make = (draw: Draw) => { readonly text: string; readonly secrets: readonly string[] };

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const WORD = LOWER + LOWER.toUpperCase() + DIGITS;

export function createDraw(random: Random): Draw {
  const from = (alphabet: string, length: number): string =>
    Array.from({ length }, () => alphabet[random.int(0, alphabet.length - 1)]).join('');
  const bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, () => random.int(0, 255)));
  // At least one digit in the middle: people and generators add one.
  const word = (length: number): string =>
    from(WORD, Math.floor(length / 2)) + from(DIGITS, 1) + from(WORD, Math.ceil(length / 2) - 1);
  return {
    word,
    lower: (length) =>
      from(LOWER, Math.floor(length / 2)) + from(DIGITS, 1) + from(LOWER + DIGITS, Math.ceil(length / 2) - 1),
    upper: (length) => from(LOWER.toUpperCase() + DIGITS, length),
    hex: (length) => from('0123456789abcdef', length),
    digits: (length) => from(DIGITS, length),
    password: (length = 16) => word(length - 4) + from('!#%+_.-~', 2) + from(WORD, 2),
    base64: (length) => bytes(length).toString('base64'),
    pemLines(first) {
      const body = Buffer.concat([Buffer.from(first), bytes(600)]).toString('base64');
      return body.match(/.{1,64}/g) ?? [];
    },
  };
}

export const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** One secret in a text. */
export const within = (secret: (draw: Draw) => string, text: (secret: string, draw: Draw) => string): Make => {
  return (draw) => {
    const value = secret(draw);
    return { text: text(value, draw), secrets: [value] };
  };
};

export const password = (text: (secret: string, draw: Draw) => string): Make => within((draw) => draw.password(), text);
export const token = (length: number, text: (secret: string) => string): Make =>
  within((draw) => draw.word(length), text);
