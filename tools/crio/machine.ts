import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { configure, type CrioConfiguration } from './configuration.ts';

/** Puts on a machine's disk, given by its root, all that CRI-O needs besides its programs. */
export async function prepareMachine(root: string, configuration: CrioConfiguration): Promise<void> {
  for (const [path, text] of Object.entries(configure(configuration))) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  await mkdir(join(root, '/etc/crio/crio.conf.d'), { recursive: true });
  // As Fedora CoreOS and its kin have it: Debian's absolute link leads out of the disk for whoever looks at it from outside.
  await rm(join(root, '/var/run'), { force: true });
  await symlink('../run', join(root, '/var/run'));
}
