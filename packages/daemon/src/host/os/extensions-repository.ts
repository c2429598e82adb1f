// Packages of extensions and kernels, taken out of their image, as a repository that rpm-ostree finds. There only while it looks.
import { emptyDirectory, type FileSystem, makeDirectories, ownOwners, replaceFile } from '../file-system.ts';
import type { Run } from '../run-command.ts';
import type { Podman } from './podman.ts';

const CONTENT = '/run/slipway-extensions';
const REPOSITORIES = '/etc/yum.repos.d';
const REPOSITORY = `${REPOSITORIES}/coreos-extensions.repo`;

const TEXT = `[coreos-extensions]
name=coreos-extensions
enabled=1
metadata_expire=1m
baseurl=${CONTENT}/usr/share/rpm-ostree/extensions/
gpgcheck=0
skip_if_unavailable=False
`;

export interface ExtensionsRepository {
  open(image: string): Promise<void>;
  /** Also what an earlier process has left. */
  close(): Promise<void>;
}

export function createExtensionsRepository(parts: {
  readonly files: FileSystem;
  readonly run: Run;
  readonly podman: Podman;
}): ExtensionsRepository {
  const { files, run, podman } = parts;
  const owners = ownOwners();

  async function close(): Promise<void> {
    if ((await files.lookAt(REPOSITORY)) !== null) {
      await files.remove(REPOSITORY);
      await files.syncDirectory(REPOSITORIES);
    }
    if ((await files.lookAt(CONTENT)) === null) return;
    await emptyDirectory(files, CONTENT);
    await files.removeDirectory(CONTENT);
  }

  return {
    close,

    async open(image) {
      await close();
      await makeDirectories(files, CONTENT, owners);
      await podman.copyOut(image, CONTENT);
      if ((await files.lookAt('/sys/fs/selinux/enforce')) !== null) {
        // What podman has copied has the label of containers, which rpm-ostree may not read.
        await run({ program: 'chcon', args: ['-R', '-t', 'var_run_t', CONTENT], timeoutMs: 10 * 60_000 });
      }
      await makeDirectories(files, REPOSITORIES, owners);
      await replaceFile(files, REPOSITORY, { ...owners, mode: 0o644, bytes: Buffer.from(TEXT) });
    },
  };
}
