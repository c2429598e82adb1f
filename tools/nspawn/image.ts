import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cachedPath, makeOnce } from '../controlplane/cache.ts';
import { ToolsError } from '../controlplane/errors.ts';
import { showStep, terminalProgress } from '../controlplane/progress.ts';
import { unpackDebian, type DebianOptions } from '../debian/debian.ts';
import { run, RunError } from '../run.ts';

/** Debian 13: systemd 257. */
const SUITE = 'trixie';
/** In addition to essential packages: an init, its bus, accounts, Node's libraries, and CRI-O's container tools. */
const SYSTEM = ['systemd', 'systemd-sysv', 'dbus', 'procps', 'passwd', 'libstdc++6', 'libatomic1'];
const PACKAGES = [...SYSTEM, 'conmon', 'crun'];
/** Useless on a machine that lives for a minute. */
const LEFT_OUT = [
  ...['doc', 'man', 'locale', 'info'].map((name) => `usr/share/${name}`),
  // Those of the machine that created the image.
  'etc/resolv.conf',
  'etc/hostname',
  // Without one, the next boot is a first boot: systemd then applies all presets, including those of Ignition.
  'etc/machine-id',
  // apt's daily jobs.
  'etc/systemd/system/timers.target.wants',
  // Would ask for a password on the console at first boot.
  'usr/lib/systemd/system/systemd-firstboot.service',
];

const FILES: Record<string, string> = {
  // As at the end of Fedora CoreOS's presets: everything else stays disabled.
  'usr/lib/systemd/system-preset/99-default-disable.preset': 'disable *\n',
  // Nodes share the network of the machine and must not configure it.
  'usr/lib/systemd/system-preset/10-no-network.preset':
    'disable systemd-networkd*\ndisable systemd-resolved*\ndisable systemd-timesyncd*\n',
  // Ignition reads the SELinux policy for labelling files from here.
  'etc/selinux/config': 'SELINUX=disabled\nSELINUXTYPE=none\n',
};

/** A small Debian with systemd in the user's cache: the base disk of every node, below what the node writes. */
export interface NodeImage {
  directory: string;
  suite: string;
}

/**
 * Pinned by suite, not by version: the archive has only one version of a package. apt verifies the archive's signature
 * with the keys that this machine trusts. Created once; from then on it needs no network.
 */
export async function resolveNodeImage({
  progress = terminalProgress(),
  env = process.env,
}: DebianOptions = {}): Promise<NodeImage> {
  const recipe = JSON.stringify([SUITE, PACKAGES, LEFT_OUT, FILES, process.arch]);
  const name = `node-image-${SUITE}-${createHash('sha256').update(recipe).digest('hex').slice(0, 12)}`;
  const directory = cachedPath(env, name);
  await makeOnce(directory, {
    doing: 'is creating the disk image of test nodes',
    progress,
    isThere: async () => existsSync(directory),
    async make(temporary) {
      const { directory: mmdebstrap } = await unpackDebian([{ name: 'mmdebstrap', least: [1, 0, 0] }], {
        progress,
        env,
      });
      const tree = join(temporary, 'tree');
      const step = {
        doing: `making the disk image of test nodes (half a minute, once)`,
        done: `created the disk image of test nodes, Debian ${SUITE} with systemd`,
      };
      await showStep(progress, step, () => runMmdebstrap(join(mmdebstrap, 'usr/bin/mmdebstrap'), tree, env));
      for (const path of LEFT_OUT) await rm(join(tree, path), { recursive: true, force: true });
      for (const [path, text] of Object.entries(FILES)) {
        await mkdir(dirname(join(tree, path)), { recursive: true });
        await writeFile(join(tree, path), text);
      }
      // Under its final name, it is complete.
      await rename(tree, directory);
    },
  });
  return { directory, suite: SUITE };
}

/** The machine's own package source: it may be able to reach no other. None: mmdebstrap has a default. */
async function findMirror(cwd: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const args = ['indextargets', '--format', '$(SITE)', 'Identifier: Packages'];
  const printed = await run('apt-get', args, { env, cwd }).catch(() => '');
  return printed
    .split('\n')
    .filter((site) => /^https?:.*\/debian\/?$/.test(site))
    .slice(0, 1);
}

async function runMmdebstrap(path: string, tree: string, env: NodeJS.ProcessEnv): Promise<void> {
  const args = [
    '--mode=root',
    '--variant=minbase',
    '--aptopt=Acquire::Languages "none"',
    `--include=${PACKAGES.join()}`,
  ];
  const mirror = await findMirror(dirname(tree), env);
  try {
    await run('nice', ['perl', path, ...args, SUITE, tree, ...mirror], { env: { ...env, LC_ALL: 'C' } });
  } catch (error) {
    throw error instanceof RunError ? buildError(error) : error;
  }
}

function buildError({ said, end }: RunError): ToolsError {
  const lines = said.split('\n').slice(-8);
  const needs = 'It needs root, perl, and a Debian archive that apt-get reaches';
  return new ToolsError(
    'SLW_TOOLS_BUILD_FAILED',
    [
      `creating the disk image of test nodes failed: mmdebstrap exited with ${end}. ${needs}`,
      ...lines.map((line) => `  ${line.slice(0, 400)}`),
    ].join('\n'),
  );
}
