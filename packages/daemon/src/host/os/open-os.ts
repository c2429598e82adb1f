// Detects the tool that manages the machine's OS, and opens it.
import { readFile } from 'node:fs/promises';
import { findOSLimits, type OSAbility, type OSFacts } from '@slipway/fleet';
import { type FileSystem, ownOwners, systemErrorCode } from '../file-system.ts';
import type { OperatingSystem } from '../host.ts';
import type { Run } from '../run-command.ts';
import { createBootc, parseBootcStatus } from './bootc.ts';
import { readCommandLine } from './deployment.ts';
import { createExtensionsRepository } from './extensions-repository.ts';
import { createOSRun, DEFAULT_RETRY_POLICY, OSFailure, type OSRetryPolicy } from './os-commands.ts';
import { describeOS, readOSName, readOSRelease } from './os-release.ts';
import { chooseOSTool, type OSTool, type OSToolFacts } from './os-tool.ts';
import { createPodman, type Podman } from './podman.ts';
import { createRpmOstree } from './rpm-ostree.ts';
import type { ChangingOS } from './staging.ts';

export interface OSOptions {
  readonly patience?: OSRetryPolicy;
  /** The kernel command line. Default: that of this machine. */
  readonly commandLine?: () => Promise<string>;
  /** `1` in FIPS mode; rejects with ENOENT if the kernel was built without it. Default: that of this machine. */
  readonly fipsEnabled?: () => Promise<string>;
}

const SHORT_MS = 60_000;
const PULL_SECRET = '/var/lib/kubelet/config.json';
const OSTREE_SECRET = '/run/ostree/auth.json';
/** Where podman stores images. */
const CONTAINERS = '/var/lib/containers';

export async function openOS(
  options: OSOptions & { readonly files: FileSystem; readonly run: Run },
): Promise<{ readonly kind: OSTool; readonly os: OperatingSystem }> {
  const { files, run, patience = DEFAULT_RETRY_POLICY } = options;
  const commandLine = options.commandLine ?? (() => readFile('/proc/cmdline', 'utf8'));
  const { fipsEnabled = () => readFile('/proc/sys/crypto/fips_enabled', 'utf8') } = options;
  const facts = await gatherFacts(files, run);
  const kind = chooseOSTool(facts);
  const attempt = createOSRun(run, patience);
  const podman = createPodman({ files, run, attempt });
  const repository = createExtensionsRepository({ files, run, podman });
  const open = {
    plain: () => createPlainOS(commandLine),
    'rpm-ostree': () => createRpmOstree({ attempt, podman, repository, imageTool: 'rpm-ostree' }),
    bootc: () =>
      isOnlyBootc(facts)
        ? createBootc({ files, attempt, podman, commandLine })
        : createRpmOstree({ attempt, podman, repository, imageTool: 'bootc' }),
  };
  if (kind === 'rpm-ostree' || kind === 'bootc') await linkPullSecret(files);
  const readFacts = () => readOSFacts(files, findAbility(kind, facts));
  return {
    kind,
    os: { ...withLimits(open[kind](), readFacts), ...sameForAll(files, podman, fipsEnabled), facts: readFacts },
  };
}

function findAbility(tool: OSTool, facts: OSToolFacts): OSAbility {
  if (tool === 'plain') return 'none';
  return tool === 'bootc' && isOnlyBootc(facts) ? 'image-and-kernel-arguments' : 'all';
}

/** Kubernetes has its own names for some architectures. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ppc64: 'ppc64le' };

export async function readOSFacts(files: FileSystem, ability: OSAbility): Promise<OSFacts> {
  return { name: await readOSName(files), ability, architecture: ARCHITECTURES[process.arch] ?? process.arch };
}

/** An update was checked before the drain; this also covers first boots and updates that an older program started. */
function withLimits(os: ChangingOS, readFacts: () => Promise<OSFacts>): ChangingOS {
  return {
    ...os,
    async stage(change) {
      const limits = findOSLimits(change, await readFacts()).map(({ field, why }) => `${field}: ${why}`);
      if (limits.length > 0) throw new OSFailure('unsupported', limits.join('; '));
      await os.stage(change);
    },
  };
}

function isOnlyBootc({ hasRpmOstree, bootc }: OSToolFacts): boolean {
  return !hasRpmOstree || bootc === 'bootc only';
}

async function gatherFacts(files: FileSystem, run: Run): Promise<OSToolFacts> {
  const isOstree = (await files.lookAt('/run/ostree-booted')) !== null;
  const rpmOstree = await run({ program: 'rpm-ostree', args: ['--version'], timeoutMs: SHORT_MS });
  return {
    release: await readOSRelease(files),
    hasRpmOstree: isOstree && rpmOstree.status === 0,
    bootc: await detectBootc(run),
  };
}

async function detectBootc(run: Run): Promise<OSToolFacts['bootc']> {
  const { status, stdout } = await run({ program: 'bootc', args: ['status', '--format', 'json'], timeoutMs: SHORT_MS });
  // A bootc that fails, for example an old one without JSON output, cannot be used.
  if (status !== 0) return 'absent';
  const { booted } = parseBootcStatus(stdout);
  if (booted === null) return 'none';
  if (booted.incompatible) return 'modified';
  if (booted.image === null) return 'none';
  return booted.ostree ? 'image' : 'bootc only';
}

/** rpm-ostree and bootc read it there. An existing file of another owner stays. */
async function linkPullSecret(files: FileSystem): Promise<void> {
  if ((await files.lookAt(PULL_SECRET)) === null || (await files.lookAt(OSTREE_SECRET)) !== null) return;
  if ((await files.lookAt('/run/ostree')) === null) {
    await files.makeDirectory('/run/ostree', { ...ownOwners(), mode: 0o755 });
  }
  await files.makeLink(OSTREE_SECRET, { ...ownOwners(), target: PULL_SECRET });
}

type SameForAll = Pick<OperatingSystem, 'describe' | 'fips' | 'missing' | 'store' | 'prefetch'>;

function sameForAll(files: FileSystem, podman: Podman, fipsEnabled: () => Promise<string>): SameForAll {
  return {
    describe: () => describeOS(files),

    async fips() {
      try {
        return (await fipsEnabled()).trim() === '1';
      } catch (error) {
        if (systemErrorCode(error) === 'ENOENT') return null;
        throw error;
      }
    },

    missing: (images) => podman.missing(images),

    store: async () => ({ path: CONTAINERS, ...(await files.space(CONTAINERS)) }),

    async prefetch(images, onProgress, signal) {
      for (const image of images) await podman.pull(image, onProgress, signal);
    },
  };
}

/** An OS that is not image-based, for example Debian. The daemon manages its files and units, but cannot change the OS. */
function createPlainOS(commandLine: () => Promise<string>): ChangingOS {
  return {
    async state() {
      const kernelArguments = readCommandLine(await commandLine());
      return { booted: { image: '', digest: '', version: '', kernelArguments, packages: [] }, staged: null };
    },

    stage: async () => undefined,

    discard: async () => undefined,
  };
}
