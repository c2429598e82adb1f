// Finishes what Ignition began: kernel arguments, extensions and OS of the config that the machine was born with. It runs
// before the kubelet, at every boot until it is done, and may be cut off at any point.
import { posix } from 'node:path';
import { object, readableItems, stateFileCodec, string } from '@slipway/base/codec';
import { PRESET_PATH, splitArguments } from '@slipway/fleet';
import type { Log } from '@slipway/kube';
import { DaemonError } from './errors.ts';
import type { Deployment, Host, OSChange, Progress } from './host/host.ts';
import { listImagesToPull } from './host/os/change-steps.ts';
import { parseDigest, listExtensionPackages, listKernelPackages } from './host/os/deployment.ts';
import { ENCAPSULATED, readStateFile, STATE_DIRECTORY, writeStateFile } from './state-file.ts';
import { parseStoredConfig, readCurrentConfig, type StoredConfig, writeCurrentConfig } from './stored-config.ts';

export type FirstBoot =
  /** There is nothing to finish: it was done before. */
  | { readonly type: 'nothing' }
  /** The machine is what its config says; the kubelet may start. */
  | { readonly type: 'done'; readonly config: string }
  /** The machine goes down and comes back with the rest. */
  | { readonly type: 'rebooting'; readonly config: string; readonly change: OSChange };

export interface FirstBootOptions {
  readonly host: Host;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** A served config and its wrapping: rendered ones have at most 1.5 MB. */
const MAX_BYTES = 8_000_000;
const ATTEMPTS = `${STATE_DIRECTORY}/first-boot.json`;

/** The OS would not take what was staged: more boots will not change that, and a machine that boots for ever tells nobody why. */
const MAX_BOOTS = 3;

export async function finishFirstBoot({
  host,
  log,
  signal,
  onProgress = () => {},
}: FirstBootOptions): Promise<FirstBoot> {
  const config = await readEncapsulated(host);
  if (config === null) return { type: 'nothing' };
  await checkFips(host, config);
  const { booted } = await host.os.state();
  const change = missingFromOS(booted, config);
  if (change === null) {
    await handOver(host, config);
    return { type: 'done', config: config.name };
  }
  await countBoot(host, config);
  log.info({ config: config.name, change }, 'the OS is not yet what the config says');
  await host.os.prefetch(listImagesToPull({ booted, change }), onProgress, signal);
  await host.os.stage(change);
  // Before the reboot is asked for nothing is noted as done: what is staged may be lost with the power, and is staged again.
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
      `${ENCAPSULATED} cannot be used: ${why}. Expected the MachineConfig that the server gave; install the machine anew`,
      { cause },
    );
  }
}

async function checkFips(host: Host, { name, spec }: StoredConfig): Promise<void> {
  const [found, wanted] = [await host.os.fips(), spec.fips ?? false];
  if (found === undefined || found === wanted) return;
  throw new DaemonError(
    'SLW_DAEMON_FIRST_BOOT',
    `MachineConfig ${name}, spec.fips: expected ${wanted}, but the machine was installed with ${found}. FIPS mode cannot be changed: install the machine anew with fips=${wanted ? 1 : 0}, or take spec.fips back`,
  );
}

/** In an order in which a power cut between any two leaves either all to be done again, or nothing. */
async function handOver({ files }: Host, config: StoredConfig): Promise<void> {
  const current = await readCurrentConfig(files);
  if (current?.name !== config.name) await writeCurrentConfig(files, config);
  // From now on units are enabled and disabled one by one: a preset for them would say what the first config said.
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
  /** Of boots that were to bring it. */
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
      `the machine was booted ${before.length} times to bring its OS to MachineConfig ${name}, and it still is not what that says. It is not booted again. The reason is in \`journalctl -b -1 -u ostree-finalize-staged.service\`; then remove ${ATTEMPTS}`,
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
 * What a machine that was installed from a boot image still lacks of its config: Ignition writes files, not the OS.
 * Null: nothing.
 */
export function missingFromOS(booted: Deployment, { spec }: StoredConfig): OSChange | null {
  const change = { ...missingImage(booted, spec), ...missingArguments(booted, spec), ...missingPackages(booted, spec) };
  if (Object.keys(change).length === 0) return null;
  const packages = [...listExtensionPackages(spec.extensions ?? []), ...listKernelPackages(spec.kernelType ?? '')];
  return packages.length === 0 ? change : { ...change, extensionsImage: spec.baseOSExtensionsContainerImage ?? '' };
}

type Spec = StoredConfig['spec'];

/** By its digest, where both have one: the same image may come from a mirror. */
function missingImage(booted: Deployment, { osImageURL: image = '' }: Spec): OSChange {
  const digest = parseDigest(image);
  const isThere = booted.image === image || (digest !== '' && digest === booted.digest);
  return image === '' || isThere ? {} : { image };
}

/** One that is wanted twice and there once is missing once. */
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
