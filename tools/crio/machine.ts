import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { configure, type CrioConfiguration } from './configuration.ts';

/** Adds to a machine's disk, identified by its root, everything that CRI-O needs besides its programs. */
export async function prepareMachine(root: string, configuration: CrioConfiguration): Promise<void> {
  for (const [path, text] of Object.entries(configure(configuration))) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  await mkdir(join(root, '/etc/crio/crio.conf.d'), { recursive: true });
  // As in Fedora CoreOS and relatives: from outside, Debian's absolute link would lead out of the disk.
  await rm(join(root, '/var/run'), { force: true });
  await symlink('../run', join(root, '/var/run'));
}
