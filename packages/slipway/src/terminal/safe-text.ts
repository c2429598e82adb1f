import { oneLine } from '@slipway/base/text';

// What comes from a cluster or a config may not move a terminal's cursor or turn text around.
const UNSAFE = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

export function safeText(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** The same in one line, for a sentence or a cell. */
export const safeLine = (text: string): string => oneLine(safeText(text));
