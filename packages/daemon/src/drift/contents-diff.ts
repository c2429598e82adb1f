// How the contents of a file differ, as it may be shown: unified, masked, bounded.
import { isSecretFile } from '@slipway/fleet';
import { shown } from './drift.ts';
import { type AnyConfig, diffConfigs, encodeDataUrl, formatDiff } from '@slipway/ignition';

export interface Side {
  readonly bytes: Uint8Array;
  readonly mode: number;
}

const MOST_LINES = 60;
const MOST_CHARACTERS = 4000;
const INDENT = '    ';

/** `expected` null: the config has no such file. '' where nothing can be shown. */
export async function diffContents(path: string, expected: Side | null, found: Side): Promise<string> {
  const secret = [expected, found].some((side) => side !== null && isSecretFile(path, side.mode));
  const { items } = await diffConfigs(configWith(path, expected), configWith(path, found), {
    isSecretFile: () => secret,
  });
  if (items === null || items.length === 0) return '';
  const lines = formatDiff(items)
    .split('\n')
    .filter((line) => line.startsWith(INDENT));
  return bounded([
    `--- ${shown(path)} (config)`,
    `+++ ${shown(path)} (machine)`,
    ...lines.map((line) => line.slice(INDENT.length)),
  ]);
}

function configWith(path: string, side: Side | null): AnyConfig {
  const files = side === null ? [] : [{ path, contents: { source: encodeDataUrl(side.bytes) } }];
  return { ignition: { version: '3.5.0' }, storage: { files } };
}

function bounded(lines: readonly string[]): string {
  let room = MOST_CHARACTERS;
  const shown = lines.slice(0, MOST_LINES).filter((line) => (room -= line.length + 1) >= 0);
  const left = lines.length - shown.length;
  return [...shown, ...(left === 0 ? [] : [`… and ${left} more lines`]), ''].join('\n');
}
