import type { Explained } from '@slipway/fleet';
import { safeText, table } from '../cli/terminal.ts';

const listed = (names: readonly string[]): string => (names.length === 0 ? '-' : names.join(', '));

/** Everything, a line each. */
export function overviewText(things: readonly Explained[]): string {
  return table(
    ['KIND', 'NAME', 'SET BY', 'OVERRODE'],
    things.map(({ noun, name, setBy, overrode }) => [noun, name, setBy, listed(overrode)]),
  );
}

/** One thing with its fields, and its contents where it has any. */
export function thingText({ noun, name, setBy, overrode, fields }: Explained, contents: string | undefined): string {
  const title = safeText(
    `${noun} ${name}\n  set by ${setBy}${overrode.length === 0 ? '' : `, over ${listed(overrode)}`}\n`,
  );
  // What it is called by is in the title already.
  const rows = fields.filter((field) => field.name !== '' && field.value !== name);
  const shown = table(
    ['FIELD', 'VALUE', 'SET BY', 'OVERRODE'],
    rows.map((field) => [field.name, field.value, field.from, listed(field.overrode)]),
  );
  const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, '  ');
  return [
    title,
    ...(rows.length === 0 ? [] : ['\n', indent(shown)]),
    ...(contents === undefined ? [] : ['\n', indent(safeText(contents.endsWith('\n') ? contents : `${contents}\n`))]),
  ].join('');
}
