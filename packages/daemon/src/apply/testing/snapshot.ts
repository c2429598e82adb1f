// The part of a machine that configs describe, as lines of text: two machines are equal if these are.
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { FileSystem, FileInfo } from '../../host/file-system.ts';
import { CURRENT_CONFIG, STATE_DIRECTORY } from '../../state-file.ts';

const SIMULATED_STATE = '/var/lib/slipway-simulated/os.json';
const LIMIT = 16 * 1024 * 1024;

export type Snapshot = ReadonlyMap<string, string>;

/** Without what a reboot removes, the daemon's state, and the boot ID. */
export async function takeSnapshot(files: FileSystem): Promise<Snapshot> {
  const lines = new Map<string, string>();
  const visit = async (directory: string): Promise<void> => {
    for (const name of await files.list(directory)) {
      const path = posix.join(directory, name);
      if (path === '/run' || path === STATE_DIRECTORY) continue;
      const found = await files.lookAt(path);
      if (found !== null) lines.set(path, await describe(files, path, found));
      if (found?.kind === 'directory') await visit(path);
    }
  };
  await visit('/');
  const current = await files.lookAt(CURRENT_CONFIG);
  lines.set(CURRENT_CONFIG, current === null ? 'none' : await describe(files, CURRENT_CONFIG, current));
  return lines;
}

/** The paths that are missing or differ. */
export function differences(expected: Snapshot, found: Snapshot): string[] {
  const paths = new Set([...expected.keys(), ...found.keys()]);
  return [...paths]
    .filter(
      (path) =>
        expected.get(path) !== found.get(path) && !isEmptyOfLinks(expected, path) && !isEmptyOfLinks(found, path),
    )
    .map((path) => `${path}: expected ${expected.get(path) ?? 'nothing'}, found ${found.get(path) ?? 'nothing'}`);
}

/** systemctl also leaves such an empty directory if the link in it cannot be created. */
function isEmptyOfLinks(snapshot: Snapshot, path: string): boolean {
  if (!/^\/etc\/systemd\/system\/[^/]+\.(wants|requires|upholds)$/.test(path)) return false;
  return snapshot.has(path) && ![...snapshot.keys()].some((each) => each.startsWith(`${path}/`));
}

async function describe(files: FileSystem, path: string, found: FileInfo): Promise<string> {
  if (found.kind === 'other') return 'other';
  const owner = `${found.uid}:${found.gid}`;
  if (found.kind === 'link') return `link ${owner} → ${found.target}`;
  const mode = found.mode.toString(8);
  if (found.kind === 'directory') return `directory ${mode} ${owner}`;
  const text = Buffer.from(await files.read(path, LIMIT)).toString('latin1');
  return `file ${mode} ${owner} ${path === SIMULATED_STATE ? withoutBootId(text) : short(text)}`;
}

function withoutBootId(text: string): string {
  return text.replace(/"bootId": *"[^"]*"/, '"bootId": ""');
}

function short(text: string): string {
  if (text.length <= 60) return JSON.stringify(text);
  return `${JSON.stringify(text.slice(0, 40))}… ${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
}
