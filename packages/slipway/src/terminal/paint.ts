// Colours, where somebody looks at a terminal and wants them.
import { styleText } from 'node:util';

export type Colour = 'red' | 'green' | 'yellow' | 'cyan' | 'dim' | 'bold';
export type Paint = (colour: Colour, text: string) => string;

export const plain: Paint = (_colour, text) => text;
const coloured: Paint = (colour, text) => (text === '' ? '' : styleText(colour, text, { validateStream: false }));

/** https://no-color.org: set and not empty means none. */
export function paintFor(stream: object, env: Readonly<Record<string, string | undefined>> = process.env): Paint {
  const { NO_COLOR: noColour = '', TERM: terminal = '' } = env;
  return isTerminal(stream) && noColour === '' && terminal !== 'dumb' ? coloured : plain;
}

export const isTerminal = (stream: object): boolean => 'isTTY' in stream && stream.isTTY === true;

/** Undefined where it is no terminal, or does not say. */
export const widthOf = (stream: object): number | undefined =>
  isTerminal(stream) && 'columns' in stream && typeof stream.columns === 'number' && stream.columns > 0
    ? stream.columns
    : undefined;
