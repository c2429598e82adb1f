// From the booted deployment to the wanted one, in the order in which rpm-ostree and bootc can do it: each step goes on from what
// the ones before have staged.
import { isEqual } from '@slipway/base/equal';
import type { Deployment, OSChange } from '../host.ts';
import {
  changePackages,
  DEFAULT_KERNEL,
  isKernelPackage,
  findKernelType,
  listExtensionPackages,
  listKernelPackages,
} from './deployment.ts';
import type { RpmOstreeDeployment } from './rpm-ostree-status.ts';

export interface OSStep {
  readonly program: 'rpm-ostree' | 'bootc';
  readonly args: readonly string[];
  /** For people, if it fails. */
  readonly failing: string;
}

export interface StepsRequest {
  readonly booted: RpmOstreeDeployment;
  readonly change: OSChange;
  /** Which tool changes images here. Where packages are involved it is rpm-ostree all the same. */
  readonly imageTool: 'rpm-ostree' | 'bootc';
  /** Podman has the image already. */
  readonly isPulled: boolean;
}

interface DesiredDeployment {
  readonly booted: Pick<Deployment, 'image' | 'packages'>;
  readonly change: OSChange;
}

export function planOSSteps(request: StepsRequest): OSStep[] {
  const { booted, change } = request;
  const changesImage = switchesImage(request);
  const kernel = { before: findKernelType(booted.packages), after: computeKernelType(request) };
  const changesKernel = changesImage || kernel.before !== kernel.after;
  return [
    ...(changesKernel ? resetKernel(booted) : []),
    ...(changesImage ? [switchImage(request, change.image ?? '')] : []),
    ...changeArguments(change),
    ...(changesKernel ? installKernel(kernel.after) : []),
    ...layerExtensions(booted, change),
    ...(changesImage ? [] : updatePackages(request)),
  ];
}

/** Packages come from the extensions image where there are any in the end and this change has rpm-ostree look for them. */
export function needsPackages({ booted, change }: DesiredDeployment): boolean {
  const wanted = changePackages(booted.packages, change);
  const looksForThem =
    switchesImage({ booted, change }) || change.extensions !== undefined || change.kernelType !== undefined;
  return looksForThem && wanted.length > 0;
}

/** All that has to be downloaded for the change, and nothing else. */
export function listImagesToPull(wanted: DesiredDeployment): string[] {
  const { image = '', extensionsImage = '' } = wanted.change;
  return [switchesImage(wanted) ? image : '', needsPackages(wanted) ? extensionsImage : ''].filter(
    (name) => name !== '',
  );
}

function switchesImage({ booted, change }: DesiredDeployment): boolean {
  return change.image !== undefined && change.image !== booted.image;
}

function computeKernelType({ booted, change }: StepsRequest): string {
  return change.kernelType?.after ?? findKernelType(booted.packages);
}

/** The image's own kernel comes back first: another image has no place for the overrides of this one. */
function resetKernel(booted: RpmOstreeDeployment): OSStep[] {
  const removals = booted.removals.filter((name) => DEFAULT_KERNEL.includes(name));
  const packages = booted.packages.filter(isKernelPackage);
  if (removals.length === 0 || packages.length === 0) return [];
  const args = ['override', 'reset', ...removals, ...packages.flatMap((name) => ['--uninstall', name])];
  return [{ program: 'rpm-ostree', args, failing: 'The kernel of the OS image cannot be put back' }];
}

function switchImage(request: StepsRequest, image: string): OSStep {
  const { booted, change, imageTool, isPulled } = request;
  const failing = `The OS cannot be brought to the image ${image}`;
  const isModified = booted.packages.length + booted.removals.length + changePackages([], change).length > 0;
  if (imageTool === 'bootc' && !isModified) {
    const transport = isPulled ? ['--transport', 'containers-storage'] : [];
    return { program: 'bootc', args: ['switch', ...transport, image], failing };
  }
  const scheme = isPulled ? 'ostree-unverified-image:containers-storage:' : 'ostree-unverified-registry:';
  // Versions of old want to be told that images are an experiment; later ones do not mind.
  return { program: 'rpm-ostree', args: ['rebase', '--experimental', `${scheme}${image}`], failing };
}

/** In one call: an argument that is removed and added is moved to the end. */
function changeArguments({ kernelArguments }: OSChange): OSStep[] {
  if (kernelArguments === undefined) return [];
  const args = [
    ...kernelArguments.removed.map((argument) => `--delete-if-present=${argument}`),
    ...kernelArguments.added.map((argument) => `--append=${argument}`),
  ];
  if (args.length === 0) return [];
  return [{ program: 'rpm-ostree', args: ['kargs', ...args], failing: 'The kernel arguments cannot be changed' }];
}

function installKernel(kernelType: string): OSStep[] {
  const packages = listKernelPackages(kernelType);
  if (packages.length === 0) return [];
  const args = ['override', 'remove', ...DEFAULT_KERNEL, ...packages.flatMap((name) => ['--install', name])];
  return [{ program: 'rpm-ostree', args, failing: `The kernel ${kernelType} cannot be put in place of the image’s` }];
}

/** The same packages from another extensions image: perhaps of another version. */
function updatePackages({ booted, change }: Pick<StepsRequest, 'booted' | 'change'>): OSStep[] {
  const wanted = changePackages(booted.packages, change);
  const isSame = change.extensions !== undefined && isEqual(wanted, booted.packages.toSorted());
  if (!isSame || wanted.length === 0 || !change.extensionsImage) return [];
  return [{ program: 'rpm-ostree', args: ['update'], failing: 'The packages cannot be brought to another version' }];
}

function layerExtensions(booted: RpmOstreeDeployment, { extensions }: OSChange): OSStep[] {
  if (extensions === undefined) return [];
  const wanted = listExtensionPackages(extensions.after);
  const added = wanted.filter((name) => !booted.packages.includes(name));
  const removed = listExtensionPackages(extensions.before).filter(
    (name) => !wanted.includes(name) && booted.packages.includes(name),
  );
  if (added.length + removed.length === 0) return [];
  const args = [...added.flatMap((name) => ['--install', name]), ...removed.flatMap((name) => ['--uninstall', name])];
  return [{ program: 'rpm-ostree', args: ['update', ...args], failing: 'The extensions cannot be changed' }];
}
