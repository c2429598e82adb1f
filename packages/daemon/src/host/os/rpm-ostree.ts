// An OS based on ostree. rpm-ostree inspects and changes everything, except that bootc changes the image if the machine
// supports it.
import type { Deployment, OSChange, OSState } from '../host.ts';
import { needsPackages, type OSStep, planOSSteps, type StepsRequest } from './change-steps.ts';
import { readCommandLine } from './deployment.ts';
import type { ExtensionsRepository } from './extensions-repository.ts';
import { OSFailure, type OSRun } from './os-commands.ts';
import type { Podman } from './podman.ts';
import { parseRpmOstreeStatus, type RpmOstreeDeployment, type RpmOstreeStatus } from './rpm-ostree-status.ts';
import { type ChangingOS, expectStaged, stageWhole } from './staging.ts';

const SHORT_MS = 2 * 60_000;

export function createRpmOstree(parts: {
  readonly attempt: OSRun;
  readonly podman: Podman;
  readonly repository: ExtensionsRepository;
  readonly imageTool: StepsRequest['imageTool'];
}): ChangingOS {
  const { attempt, podman, repository, imageTool } = parts;
  const query = (...args: string[]) =>
    attempt({ program: 'rpm-ostree', args, timeoutMs: SHORT_MS, failing: 'rpm-ostree does not respond' });
  const status = async (): Promise<RpmOstreeStatus> => parseRpmOstreeStatus(await query('status', '--json'));

  async function state(): Promise<OSState> {
    const { booted, staged } = await status();
    const bootedArguments = readCommandLine(await query('kargs', '--import-proc-cmdline'));
    return {
      booted: asDeployment(booted, bootedArguments),
      staged: staged && asDeployment(staged, readCommandLine(await query('kargs'))),
    };
  }

  async function discard(): Promise<void> {
    await repository.close();
    await attempt({
      program: 'rpm-ostree',
      args: ['cleanup', '-p'],
      failing: 'The staged deployment cannot be discarded',
    });
  }

  async function runStep(step: OSStep, change: OSChange): Promise<void> {
    try {
      await attempt(step);
    } catch (error) {
      if (!(await isThereAlready(error, change))) throw error;
    }
  }

  /** The first deployment already has this image: it was staged before, by this or another client. */
  async function isThereAlready(error: unknown, change: OSChange): Promise<boolean> {
    if (!(error instanceof OSFailure) || !error.message.includes('Old and new refs are equal')) return false;
    const { booted, staged } = await status();
    return (staged ?? booted).image === change.image;
  }

  async function applyChange(change: OSChange): Promise<void> {
    const { booted } = await status();
    const isPulled = change.image !== undefined && (await podman.hasImage(change.image));
    const { extensionsImage = '' } = change;
    if (extensionsImage !== '' && needsPackages({ booted, change })) await repository.open(extensionsImage);
    for (const step of planOSSteps({ booted, change, imageTool, isPulled })) await runStep(step, change);
    await repository.close();
    expectStaged(await state(), change);
  }

  return {
    state,
    discard,
    stage: (change) => stageWhole(discard, () => applyChange(change)),
  };
}

function asDeployment(deployment: RpmOstreeDeployment, kernelArguments: readonly string[]): Deployment {
  const { image, digest, version, checksum, packages } = deployment;
  return { image, digest, version, checksum, packages, kernelArguments };
}
