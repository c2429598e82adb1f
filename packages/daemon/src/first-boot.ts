// Finishes what Ignition started: the kernel arguments, extensions and OS image of the machine's first config. It runs
// before the kubelet at every boot until it succeeds, and may be interrupted at any point.
import { posix } from 'node:path';
import { object, readableItems, stateFileCodec, string } from '@slipway/base/codec';
import { maskSecrets } from '@slipway/base/masking';
import {
  findFipsLimits,
  findOSLimits,
  formatOSLimits,
  type OSFacts,
  type OSLimit,
  PRESET_PATH,
  splitArguments,
} from '@slipway/fleet';
import type { Log } from '@slipway/kube';
import { DaemonError } from './errors.ts';
import { makeDirectories, ownOwners, replaceFile } from './host/file-system.ts';
import type { Deployment, Host, OSChange, Progress } from './host/host.ts';
import { listImagesToPull } from './host/os/change-steps.ts';
import { parseDigest, listExtensionPackages, listKernelPackages } from './host/os/deployment.ts';
import { ENCAPSULATED, readStateFile, STATE_DIRECTORY, writeStateFile } from './state-file.ts';
import { parseStoredConfig, readCurrentConfig, type StoredConfig, writeCurrentConfig } from './stored-config.ts';

export type FirstBoot =
  /** The first boot was finished earlier. */
  | { readonly type: 'nothing' }
  /** The machine matches its config, and the kubelet may start. */
  | { readonly type: 'done'; readonly config: string }
  /** The machine reboots to apply the rest. */
  | { readonly type: 'rebooting'; readonly config: string; readonly change: OSChange };

export interface FirstBootOptions {
  readonly host: Host;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** The served config with its wrapper. Rendered configs have at most 1.5 MB. */
const MAX_BYTES = 8_000_000;
const ATTEMPTS = `${STATE_DIRECTORY}/first-boot.json`;

/** If the OS rejects the staged change, more boots do not help, and a machine in a boot loop cannot report why. */
const MAX_BOOTS = 3;

/**
 * Rejects with a DaemonError if the machine cannot match its config. The kubelet then does not start: a machine that
 * lacks FIPS mode, for example, must not get pods that need it.
 */
export async function finishFirstBoot(options: FirstBootOptions): Promise<FirstBoot> {
  const { files } = options.host;
  try {
    const result = await continueFirstBoot(options);
    // An outdated message keeps no kubelet from starting.
    await removeIfThere(files, CONSOLE_MESSAGE).catch(() => undefined);
    return result;
  } catch (error) {
    // The first boot failed whether or not this can be shown.
    if (error instanceof DaemonError) await showOnConsole(files, error).catch(() => undefined);
    throw error;
  }
}

/** Shown above the login prompt of every console, see agetty(8). /run is empty after a boot. */
export const CONSOLE_MESSAGE = '/run/issue.d/50-slipway-first-boot.issue';

/** A machine that does not join reports nothing to the cluster. */
async function showOnConsole(files: Host['files'], { code, message }: DaemonError): Promise<void> {
  const text = [
    'Slipway: the first boot of this machine is not complete, and its kubelet does not start.',
    `${maskSecrets(message)} [${code}]`,
    'It is retried. More: journalctl -u machine-config-daemon-firstboot.service',
  ];
  // agetty expands sequences that start with a backslash.
  const bytes = Buffer.from(`${text.join('\n').replaceAll('\\', '/')}\n`);
  await makeDirectories(files, posix.dirname(CONSOLE_MESSAGE), ownOwners());
  await replaceFile(files, CONSOLE_MESSAGE, { ...ownOwners(), mode: 0o644, bytes }, { sync: false });
}

async function continueFirstBoot({ host, log, signal, onProgress = () => {} }: FirstBootOptions): Promise<FirstBoot> {
  const config = await readEncapsulated(host);
  if (config === null) return { type: 'nothing' };
  const facts = await host.os.facts();
  await checkFips(host, config, facts);
  const { booted } = await host.os.state();
  const change = missingFromOS(booted, config);
  if (change === null) {
    await handOver(host, config);
    return { type: 'done', config: config.name };
  }
  refuse(config, findOSLimits(change, facts));
  await countBoot(host, config);
  log.info({ config: config.name, change }, 'the OS does not match the config yet');
  await host.os.prefetch(listImagesToPull({ booted, change }), onProgress, signal);
  await host.os.stage(change);
  // Nothing is recorded as done before the reboot: a power cut can lose the staged change, which is then staged again.
  await host.reboot(`first boot: ${config.name}`);
  return { type: 'rebooting', config: config.name, change };
}

async function readEncapsulated({ files }: Host): Promise<StoredConfig | null> {
  if ((await files.lookAt(ENCAPSULATED)) === null) return null;
  try {
    return parseStoredConfig(await files.read(ENCAPSULATED, MAX_BYTES));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new DaemonError(
      'SLW_DAEMON_FIRST_BOOT',
      `${ENCAPSULATED} cannot be used: ${why}. Expected the MachineConfig from the machine config server. Reinstall the machine`,
      { cause },
    );
  }
}

async function checkFips(host: Host, config: StoredConfig, facts: OSFacts): Promise<void> {
  const { name, spec } = config;
  const [found, wanted] = [(await host.os.fips()) ?? false, spec.fips ?? false];
  if (found === wanted) return;
  if (wanted) refuse(config, findFipsLimits(facts));
  throw new DaemonError(
    'SLW_DAEMON_FIRST_BOOT',
    `MachineConfig ${name}, spec.fips: expected ${wanted}, but the machine was installed with ${found}. FIPS mode cannot be changed after installation: reinstall the machine with fips=${wanted ? 1 : 0}, or revert spec.fips`,
  );
}

/** The OS cannot match the config, so neither an attempt nor a reboot helps. */
function refuse(config: StoredConfig, limits: readonly OSLimit[]): void {
  if (limits.length === 0) return;
  throw new DaemonError('SLW_DAEMON_FIRST_BOOT', `${formatOSLimits(config, limits)}. Then reinstall the machine`);
}

/** Ordered so that after a power cut between any two steps, either everything is repeated or nothing is left to do. */
async function handOver({ files }: Host, config: StoredConfig): Promise<void> {
  const current = await readCurrentConfig(files);
  if (current?.name !== config.name) await writeCurrentConfig(files, config);
  // The daemon now enables and disables units one by one. The preset would restore the state of the first config.
  await removeIfThere(files, PRESET_PATH);
  await removeIfThere(files, ATTEMPTS);
  await files.rename(ENCAPSULATED, `${ENCAPSULATED}.bak`);
  await files.syncDirectory(posix.dirname(ENCAPSULATED));
}

async function removeIfThere(files: Host['files'], path: string): Promise<void> {
  if ((await files.lookAt(path)) === null) return;
  await files.remove(path);
  await files.syncDirectory(posix.dirname(path));
}

interface Boots {
  readonly config: string;
  /** IDs of the boots that were meant to apply the config. */
  readonly boots: readonly string[];
}

const MAX_BOOTS_BYTES = 4096;
const bootsFile = stateFileCodec<Boots>({
  maxChars: MAX_BOOTS_BYTES,
  decoder: object({ config: string(), boots: readableItems(string()) }),
});

async function countBoot(host: Host, { name }: StoredConfig): Promise<void> {
  const before = await readBoots(host, name);
  const bootId = await host.bootId();
  if (before.includes(bootId)) return;
  if (before.length >= MAX_BOOTS) {
    throw new DaemonError(
      'SLW_DAEMON_FIRST_BOOT',
      `the machine rebooted ${before.length} times to apply the OS changes of MachineConfig ${name}, and its OS still does not match. It does not reboot again. Find the reason with \`journalctl -b -1 -u ostree-finalize-staged.service\`, fix it, then delete ${ATTEMPTS}`,
    );
  }
  const boots: Boots = { config: name, boots: [...before, bootId] };
  await writeStateFile(host.files, ATTEMPTS, bootsFile.encode(boots));
}

async function readBoots({ files }: Host, config: string): Promise<readonly string[]> {
  const noted = await readStateFile(files, ATTEMPTS, bootsFile, MAX_BOOTS_BYTES).catch(() => null);
  return noted?.config === config ? noted.boots : [];
}

/**
 * The parts of the config that a machine installed from a boot image still lacks: Ignition writes files but does not
 * change the OS. Null: nothing.
 */
export function missingFromOS(booted: Deployment, { spec }: StoredConfig): OSChange | null {
  const change = { ...missingImage(booted, spec), ...missingArguments(booted, spec), ...missingPackages(booted, spec) };
  if (Object.keys(change).length === 0) return null;
  const packages = [...listExtensionPackages(spec.extensions ?? []), ...listKernelPackages(spec.kernelType ?? '')];
  return packages.length === 0 ? change : { ...change, extensionsImage: spec.baseOSExtensionsContainerImage ?? '' };
}

type Spec = StoredConfig['spec'];

/** Compared by digest if both have one, because the same image may come from a mirror. */
function missingImage(booted: Deployment, { osImageURL: image = '' }: Spec): OSChange {
  const digest = parseDigest(image);
  const isThere = booted.image === image || (digest !== '' && digest === booted.digest);
  return image === '' || isThere ? {} : { image };
}

/** An argument listed twice and present once is missing once. */
function missingArguments(booted: Deployment, { kernelArguments }: Spec): OSChange {
  const wanted = (kernelArguments ?? []).flatMap(splitArguments);
  const left = [...booted.kernelArguments];
  const added = wanted.filter((argument) => {
    const at = left.indexOf(argument);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  });
  return added.length === 0 ? {} : { kernelArguments: { removed: [], added, all: { before: [], after: wanted } } };
}

function missingPackages(booted: Deployment, { extensions = [], kernelType = 'default' }: Spec): OSChange {
  const isMissing = (name: string) => !booted.packages.includes(name);
  return {
    ...(listExtensionPackages(extensions).some(isMissing) && { extensions: { before: [], after: extensions } }),
    ...(listKernelPackages(kernelType).some(isMissing) && { kernelType: { before: 'default', after: kernelType } }),
  };
}
