import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { ToolsError } from '../controlplane/errors.ts';
import { run } from '../run.ts';
import { cgroupsFor } from './cgroup.ts';
import type { NodeImage } from './image.ts';

/**
 * A node's disk: the image, overlaid in memory with what the node writes. It is mounted in a separate namespace, held
 * by a small process. That process ends when its input closes, however this process dies. It then kills what runs in
 * the node's cgroups and removes them, and the mounts disappear with the namespace. Nothing is mounted on the machine.
 */
export interface NodeDisk {
  /** The process whose mount namespace it is. */
  holder: number;
  /** The node's root in that namespace. */
  root: string;
  cgroups: readonly string[];
  /** Runs a command in the namespace of the disk; a non-zero exit code is an error with the output. */
  run(command: readonly string[]): Promise<string>;
  /** Ends everything that runs on it. Idempotent. */
  discard(): Promise<void>;
}

export interface DiskOptions {
  /**
   * Also provide a place for container images in /var/lib/containers. They cannot be on the node's own disk, which is
   * an overlay: they are in a directory of this machine or, with `bytes`, in memory of exactly that size.
   */
  containers?: { bytes?: number };
}

// Read-only mounts of the machine stay; nspawn's locks go to a private /run in the namespace.
const HOLD = `set -e
directory=$1 image=$2 containers=$3 options=$4; shift 4
mount -t tmpfs -o mode=0755 tmpfs "$directory"
mkdir "$directory/upper" "$directory/work" "$directory/root"
mount -t overlay overlay -o "lowerdir=$image,upperdir=$directory/upper,workdir=$directory/work" "$directory/root"
mount -t tmpfs -o mode=0755 tmpfs /run
[ -z "$containers$options" ] || mkdir -p "$directory/root/var/lib/containers"
[ -z "$containers" ] || { mkdir "$containers"; mount --bind "$containers" "$directory/root/var/lib/containers"; }
[ -z "$options" ] || mount -t tmpfs -o "$options" tmpfs "$directory/root/var/lib/containers"
for cgroup; do mkdir "$cgroup"; done
echo ready
set +e
read -r line
for cgroup; do [ ! -e "$cgroup/cgroup.kill" ] || echo 1 >"$cgroup/cgroup.kill"; done
for cgroup; do
  tries=100
  while [ -d "$cgroup" ] && [ "$tries" -gt 0 ]; do
    find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null
    [ ! -d "$cgroup" ] || sleep 0.05
    tries=$((tries - 1))
  done
done
umount -l "$directory/root" "$directory"
[ -z "$containers" ] || rm -rf --one-file-system "$containers"
rmdir "$directory"
`;

export async function mountDisk(name: string, image: NodeImage, { containers }: DiskOptions = {}): Promise<NodeDisk> {
  const directory = await mkdtemp(join(tmpdir(), `slipway-${name}-`));
  const cgroups = await cgroupsFor(basename(directory));
  if (cgroups.length === 0) throw refused('no cgroup hierarchy of version 2 is mounted here for writing');
  const place = containers === undefined ? ['', ''] : await placeOfContainers(directory, containers.bytes);
  const child = spawn(
    'unshare',
    ['--mount', '--propagation', 'private', 'sh', '-c', HOLD, 'hold', directory, image.directory, ...place, ...cgroups],
    // A separate session: Ctrl-C is for this process, which then closes its input.
    { detached: true, stdio: ['pipe', 'pipe', 'pipe'] },
  );
  const exit = once(child, 'close').catch(() => undefined);
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  child.stdin.on('error', () => undefined);
  const ready = await Promise.race([once(child.stdout, 'data').then(() => true), exit.then(() => false)]);
  if (!ready) throw refused(said.trim());
  return {
    holder: child.pid ?? 0,
    root: join(directory, 'root'),
    cgroups,
    async run(command) {
      const enter = ['--mount', '--target', String(child.pid), ...command];
      return run('nsenter', enter);
    },
    async discard() {
      child.stdin.end();
      await exit;
    },
  };
}

const OVERLAY = 0x79_4c_76_30;
const MEMORY_BYTES = 4 * 2 ** 30;

/** A directory, or mount options for memory: required if /tmp is itself an overlay, as in most containers. */
async function placeOfContainers(directory: string, bytes?: number): Promise<[directory: string, options: string]> {
  const isOverlay = (await statfs(directory)).type === OVERLAY;
  if (bytes === undefined && !isOverlay) return [`${directory}.containers`, ''];
  return ['', `mode=0755,size=${bytes ?? MEMORY_BYTES}`];
}

function refused(why: string): ToolsError {
  return new ToolsError(
    'SLW_TOOLS_NO_NODES',
    `a node with a systemd of its own cannot be started here: ${why}. It needs root, namespaces, mounts of overlay and writable cgroups: run the tests on a virtual machine or in a privileged container`,
  );
}
