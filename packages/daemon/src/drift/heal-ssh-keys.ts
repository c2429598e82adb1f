import { posix } from 'node:path';
import type { SshKeys } from '@slipway/fleet';
import { CORE } from '../desired-machine.ts';
import { DaemonError } from '../errors.ts';
import { replaceFile } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';

/** To the file that is the config's alone, and not to the one that people write to as well. */
export async function healSshKeys(host: Host, { paths, mode, bytes }: SshKeys): Promise<void> {
  const { files } = host;
  const home = await host.accounts.home(CORE);
  if (home === undefined) return;
  const owners = { uid: home.uid, gid: home.gid };
  const path = `${home.path}/${paths[0]}`;
  for (const directory of directoriesBetween(home.path, path)) {
    const found = await files.lookAt(directory);
    // The user may put a link there that leads to a directory which is not theirs to write in.
    if (found !== null && found.kind !== 'directory') throw noDirectory(directory);
    if (found === null) await files.makeDirectory(directory, { ...owners, mode: 0o700 });
    await files.syncDirectory(posix.dirname(directory));
  }
  await replaceFile(files, path, { ...owners, bytes, mode, replaces: path });
}

/** From the top down, without the first. */
function directoriesBetween(home: string, path: string): string[] {
  const names = path
    .slice(home.length + 1)
    .split('/')
    .slice(0, -1);
  return names.map((_, index) => [home, ...names.slice(0, index + 1)].join('/'));
}

function noDirectory(path: string): DaemonError {
  return new DaemonError(
    'SLW_DAEMON_PATH',
    `${path}: expected a directory for the ssh keys of ${CORE}, found something else. Remove it, and the keys are put back`,
  );
}
