// Packages of extensions and kernels, copied from their image into a repository for rpm-ostree. It exists only during
// the change.
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
  /** Also removes what an earlier process left. */
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
        // Files copied by podman have the label of containers, which rpm-ostree may not read.
        await run({ program: 'chcon', args: ['-R', '-t', 'var_run_t', CONTENT], timeoutMs: 10 * 60_000 });
      }
      await makeDirectories(files, REPOSITORIES, owners);
      await replaceFile(files, REPOSITORY, { ...owners, mode: 0o644, bytes: Buffer.from(TEXT) });
    },
  };
}
