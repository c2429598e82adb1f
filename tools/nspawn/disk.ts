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
 * A node's disk: the image, and over it in memory what the node writes. It is mounted in a namespace of its own, which a
 * small process holds. That process ends when we close its input or die, however we die; it then kills what runs in the
 * node's cgroups and takes them away, and the mounts are gone with the namespace. Nothing is ever mounted on the machine.
 */
export interface NodeDisk {
  /** Whose mount namespace it is. */
  holder: number;
  /** The node's root in that namespace. */
  root: string;
  cgroups: readonly string[];
  /** Runs a command in the namespace, where the disk is; what does not end with 0 is an error with what it said. */
  run(command: readonly string[]): Promise<string>;
  /** Ends everything that runs on it. As often as you like. */
  discard(): Promise<void>;
}

export interface DiskOptions {
  /**
   * Also have a place for container images, in /var/lib/containers. They cannot lie on the node's own disk, which is an
   * overlay: so they lie in a directory of this machine, or with `bytes` in so much memory and not a byte more.
   */
  containers?: { bytes?: number };
}

// Read-only mounts of the machine stay; nspawn's locks go to a /run of the namespace alone.
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
    // A session of its own: Ctrl-C is for us, who then close its input.
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

/** A directory, or the options of a mount of memory: where /tmp is an overlay itself, as in most containers, it must be that. */
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
