// Which images the configuration of CRI-O pins, as CRI-O itself reads it.
import { type FileSystem, readText } from '@slipway/daemon/host';
import { parse } from 'smol-toml';

const DIRECTORY = '/etc/crio/crio.conf.d';
const MAIN = '/etc/crio/crio.conf';
const MOST_BYTES = 1024 * 1024;

/** The last file that says so counts, alone. Null: one of them is no TOML, and CRI-O keeps what it had. */
export async function readConfiguredPins(files: FileSystem): Promise<readonly string[] | null> {
  const names = await files.list(DIRECTORY);
  let pins: readonly string[] = [];
  for (const path of [MAIN, ...names.map((name) => `${DIRECTORY}/${name}`)]) {
    const text = await readText(files, path, MOST_BYTES);
    const found = text === undefined ? undefined : pinsIn(text);
    if (found === null) return null;
    pins = found ?? pins;
  }
  return pins;
}

/** With a `*` at the end: all that begin so. */
export const isPinnedBy = (pins: readonly string[], image: string): boolean =>
  pins.some((pin) => (pin.endsWith('*') ? image.startsWith(pin.slice(0, -1)) : image === pin));

/** undefined: it says nothing of pins. */
function pinsIn(text: string): readonly string[] | undefined | null {
  let table: unknown;
  try {
    table = parse(text);
  } catch {
    return null;
  }
  const pins = fieldOf(fieldOf(fieldOf(table, 'crio'), 'image'), 'pinned_images');
  if (pins === undefined) return undefined;
  return Array.isArray(pins) && pins.every((pin) => typeof pin === 'string') ? pins : null;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}
