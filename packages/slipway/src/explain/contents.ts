import { createHash } from 'node:crypto';
import { type DiskPlan, type Explained, isSecretFile, UNIT_DIRECTORY } from '@slipway/fleet';

/** More than this is looked at elsewhere. */
const MAX_SHOWN_BYTES = 64 * 1024;

const DIRECTORY_OF: Readonly<Record<string, string>> = {
  file: '',
  unit: `${UNIT_DIRECTORY}/`,
  'drop-in': `${UNIT_DIRECTORY}/`,
};

/** The contents of a file or unit as a machine gets them, as far as they may and can be shown; undefined for the rest. */
export function contentsOf({ noun, name }: Explained, plan: DiskPlan, showSecrets: boolean): string | undefined {
  const directory = DIRECTORY_OF[noun];
  if (directory === undefined) return undefined;
  const path = `${directory}${name}`;
  const entry = plan.entries.find((each) => each.path === path);
  if (entry?.kind !== 'file') return undefined;
  if (!showSecrets && isSecretFile(path, entry.mode)) {
    return `(${entry.bytes.length} bytes, hidden; --show-secrets shows them)`;
  }
  return textOf(entry.bytes) ?? `(${entry.bytes.length} bytes, sha256 ${sha256(entry.bytes)})`;
}

function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.length > MAX_SHOWN_BYTES || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
