// `rpm-ostree status --json`. Fields come and go with its versions: what is absent is taken as empty.
import { DaemonError } from '../../errors.ts';
import type { Deployment, OSChange, OSState } from '../host.ts';
import { type ChangingOS, needsPackages, type OSStep, stepsOfChange, type StepsRequest } from './change-steps.ts';
import { checkStaged, digestOf, imageOfReference, readCommandLine } from './deployment.ts';
import type { ExtensionsRepository } from './extensions-repository.ts';
import { OSFailure, type OSRun } from './os-commands.ts';
import type { Podman } from './podman.ts';

export interface RpmOstreeDeployment {
  readonly booted: boolean;
  readonly staged: boolean;
  readonly image: string;
  readonly digest: string;
  readonly version: string;
  readonly checksum: string;
  /** Asked for by name, beside those of the image. */
  readonly packages: readonly string[];
  /** Of the image's, those that were asked to go. */
  readonly removals: readonly string[];
}

export interface RpmOstreeStatus {
  readonly booted: RpmOstreeDeployment;
  readonly staged: RpmOstreeDeployment | null;
}

export function parseRpmOstreeStatus(text: string): RpmOstreeStatus {
  const deployments = asList(asRecord(parseJson(text))['deployments']).map((value) => readDeployment(asRecord(value)));
  const booted = deployments.find((deployment) => deployment.booted);
  if (booted === undefined) {
    throw new DaemonError(
      'SLW_DAEMON_HOST',
      '`rpm-ostree status --json` names no deployment that this machine is booted from: expected one of `deployments` with ' +
        '`booted: true`.',
    );
  }
  return { booted, staged: deployments.find((deployment) => deployment.staged) ?? null };
}

function readDeployment(value: Record<string, unknown>): RpmOstreeDeployment {
  const image = imageOf(value);
  return {
    booted: value['booted'] === true,
    staged: value['staged'] === true,
    image,
    digest: asText(value['container-image-reference-digest']) || digestOf(image),
    version: asText(value['base-version']) || asText(value['version']),
    checksum: asText(value['checksum']),
    packages: asTexts(value['requested-packages']),
    removals: asTexts(value['requested-base-removals']),
  };
}

/** Hosts of old have the image in the text of a custom origin. */
function imageOf(value: Record<string, unknown>): string {
  const reference = asText(value['container-image-reference']);
  if (reference !== '') return imageOfReference(reference);
  const origin = asText(asList(value['custom-origin'])[0]);
  return origin.startsWith('pivot://') ? origin.slice('pivot://'.length) : '';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not shown: it holds whole manifests.
    throw new DaemonError(
      'SLW_DAEMON_HOST',
      'What `rpm-ostree status --json` printed is no JSON. Is there a newer version of it?',
    );
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function asTexts(value: unknown): string[] {
  return asList(value).filter((item): item is string => typeof item === 'string');
}

// An OS that ostree keeps. rpm-ostree sees and changes all of it; where the machine is one for bootc, that brings the image.

const SHORT_MS = 2 * 60_000;

export function createRpmOstree(parts: {
  readonly attempt: OSRun;
  readonly podman: Podman;
  readonly repository: ExtensionsRepository;
  readonly imageTool: StepsRequest['imageTool'];
}): ChangingOS {
  const { attempt, podman, repository, imageTool } = parts;
  const ask = (...args: string[]) =>
    attempt({ program: 'rpm-ostree', args, timeoutMs: SHORT_MS, failing: 'rpm-ostree does not answer' });
  const status = async (): Promise<RpmOstreeStatus> => parseRpmOstreeStatus(await ask('status', '--json'));

  async function state(): Promise<OSState> {
    const { booted, staged } = await status();
    const bootedArguments = readCommandLine(await ask('kargs', '--import-proc-cmdline'));
    return {
      booted: asDeployment(booted, bootedArguments),
      staged: staged && asDeployment(staged, readCommandLine(await ask('kargs'))),
    };
  }

  async function discard(): Promise<void> {
    await repository.close();
    await attempt({ program: 'rpm-ostree', args: ['cleanup', '-p'], failing: 'What is staged cannot be discarded' });
  }

  async function take(step: OSStep, change: OSChange): Promise<void> {
    try {
      await attempt(step);
    } catch (error) {
      if (!(await isThereAlready(error, change))) throw error;
    }
  }

  /** The first deployment has this image: then it has been staged before, by whoever. */
  async function isThereAlready(error: unknown, change: OSChange): Promise<boolean> {
    if (!(error instanceof OSFailure) || !error.message.includes('Old and new refs are equal')) return false;
    const { booted, staged } = await status();
    return (staged ?? booted).image === change.image;
  }

  async function carryOut(change: OSChange): Promise<void> {
    const { booted } = await status();
    const isPulled = change.image !== undefined && (await podman.hasImage(change.image));
    const { extensionsImage = '' } = change;
    if (extensionsImage !== '' && needsPackages({ booted, change })) await repository.open(extensionsImage);
    for (const step of stepsOfChange({ booted, change, imageTool, isPulled })) await take(step, change);
    await repository.close();
    const after = await state();
    const missing = checkStaged(after.booted, after.staged ?? after.booted, change);
    if (missing.length > 0)
      throw new OSFailure('unknown', 'The OS is not staged as it was asked for', missing.join(' '));
  }

  return {
    state,
    discard,
    async stage(change) {
      await discard();
      try {
        await carryOut(change);
      } catch (error) {
        // The first failure is the one to tell; what is left is discarded before the next try, too.
        await discard().catch(() => undefined);
        throw error;
      }
    },
  };
}

function asDeployment(deployment: RpmOstreeDeployment, kernelArguments: readonly string[]): Deployment {
  const { image, digest, version, checksum, packages } = deployment;
  return { image, digest, version, checksum, packages, kernelArguments };
}
