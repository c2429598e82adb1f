// A machine that only bootc can change: it has no rpm-ostree, or is not based on ostree.
import { posix } from 'node:path';
import { anything, decodeValue, type Decoder, map, object, refine, string, withFallback } from '@slipway/base/codec';
import { isRecord, parseJson } from '@slipway/base/json';
import { DaemonError } from '../../errors.ts';
import { type FileSystem, makeDirectories, ownOwners, readText, replaceFile } from '../file-system.ts';
import type { Deployment, OSChange, OSState } from '../host.ts';
import { parseDigest, readCommandLine } from './deployment.ts';
import { OSFailure, type OSRun } from './os-commands.ts';
import type { Podman } from './podman.ts';
import { type ChangingOS, expectStaged, stageWhole } from './staging.ts';

const SHORT_MS = 2 * 60_000;
/** The owner of these arguments in the boot loader entry. */
const SOURCE = 'slipway';
/**
 * The arguments of the booted deployment, once others are staged. In /run, because bootc's record is also lost at the
 * next boot.
 */
const BOOTED_ARGUMENTS = '/run/slipway/booted-kernel-arguments';
const MAX_ARGUMENTS_BYTES = 64 * 1024;

export function createBootc(parts: {
  readonly files: FileSystem;
  readonly attempt: OSRun;
  readonly podman: Podman;
  readonly commandLine: () => Promise<string>;
}): ChangingOS {
  const { files, attempt, podman, commandLine } = parts;

  async function status(): Promise<BootcStatus> {
    const args = ['status', '--format', 'json'];
    return parseBootcStatus(
      await attempt({ program: 'bootc', args, timeoutMs: SHORT_MS, failing: 'bootc does not respond' }),
    );
  }

  async function switchTo({ image, transport }: { image: string; transport: string }): Promise<void> {
    const args = ['switch', ...(transport === 'registry' ? [] : ['--transport', transport]), image];
    await attempt({ program: 'bootc', args, failing: `The OS cannot be changed to the image ${image}` });
  }

  /** The whole set each time: bootc replaces the arguments of this owner. */
  async function setArguments(all: string): Promise<void> {
    const options = all === '' ? [] : ['--options', all];
    const args = ['loader-entries', 'set-options-for-source', '--source', SOURCE, ...options];
    await attempt({ program: 'bootc', args, failing: 'The kernel arguments cannot be changed' });
  }

  async function changeArguments(change: NonNullable<OSChange['kernelArguments']>): Promise<void> {
    if (change.all === undefined) {
      throw new OSFailure(
        'unsupported',
        'The kernel arguments cannot be changed',
        'bootc needs the complete list of arguments',
      );
    }
    if ((await files.lookAt(BOOTED_ARGUMENTS)) === null) {
      await makeDirectories(files, posix.dirname(BOOTED_ARGUMENTS), ownOwners());
      const bytes = Buffer.from(change.all.before.join(' '));
      await replaceFile(files, BOOTED_ARGUMENTS, { ...ownOwners(), mode: 0o600, bytes }, { sync: false });
    }
    await setArguments(change.all.after.join(' '));
  }

  async function state(): Promise<OSState> {
    const { booted, staged } = await status();
    const kernelArguments = readCommandLine(await commandLine());
    // bootc does not report the arguments of the next boot, so those of this one are used.
    return { booted: asDeployment(booted, kernelArguments), staged: staged && asDeployment(staged, kernelArguments) };
  }

  /** bootc has no such command: switching to the booted image makes the next boot the same as this one. */
  async function discard(): Promise<void> {
    const { booted, staged } = await status();
    if (staged === null || !booted?.image) return;
    await switchTo(booted.image);
    const before = await readText(files, BOOTED_ARGUMENTS, MAX_ARGUMENTS_BYTES);
    if (before === undefined) return;
    await setArguments(before);
    await files.remove(BOOTED_ARGUMENTS);
  }

  async function stageImage(image: string): Promise<void> {
    if (image === (await state()).booted.image) return;
    await switchTo({ image, transport: (await podman.hasImage(image)) ? 'containers-storage' : 'registry' });
    expectStaged(await state(), { image });
  }

  return {
    state,
    discard,
    async stage(change) {
      await stageWhole(discard, async () => {
        if (change.image !== undefined) await stageImage(change.image);
        if (change.kernelArguments !== undefined) await changeArguments(change.kernelArguments);
      });
    },
  };
}

function asDeployment(entry: BootcEntry | null, kernelArguments: readonly string[]): Deployment {
  const { image = '', digest = '', version = '' } = entry?.image ?? {};
  return { image, digest, version, kernelArguments, packages: [] };
}

// `bootc status --format json`. Absent values may be null or left out.

export interface BootcImage {
  readonly image: string;
  readonly transport: string;
  readonly digest: string;
  readonly version: string;
}

export interface BootcEntry {
  /** Null: rpm-ostree changed packages, so bootc does not report the image. */
  readonly image: BootcImage | null;
  /** bootc cannot change what rpm-ostree has modified. */
  readonly incompatible: boolean;
  /** rpm-ostree can inspect and change only deployments based on ostree. */
  readonly ostree: boolean;
}

export interface BootcStatus {
  /** Null: this machine was not booted from an image. */
  readonly booted: BootcEntry | null;
  readonly staged: BootcEntry | null;
}

export function parseBootcStatus(text: string): BootcStatus {
  const found = parseJson(text);
  if (!found.ok) {
    throw new DaemonError(
      'SLW_DAEMON_HOST',
      'The output of `bootc status --format json` is not JSON. A newer bootc may have changed its format',
    );
  }
  const said = decodeValue(object({ status: bootcStatus }), found.value);
  return said.ok ? said.value.status : { booted: null, staged: null };
}

const text = withFallback(string(), '');
const image: Decoder<BootcImage> = map(
  object({
    image: object({ image: refine(string(), (name) => name !== '', 'an image'), transport: text }),
    imageDigest: text,
    version: text,
  }),
  ({ image: { image, transport }, imageDigest, version }) => ({
    image,
    transport: transport || 'registry',
    digest: imageDigest || parseDigest(image),
    version,
  }),
);
const entry: Decoder<BootcEntry> = object({
  image: withFallback(image, null),
  incompatible: map(anything, (value) => value === true),
  ostree: map(anything, isRecord),
});
const bootcStatus: Decoder<BootcStatus> = object({
  booted: withFallback(entry, null),
  staged: withFallback(entry, null),
});
