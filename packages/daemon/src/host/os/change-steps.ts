// The steps from the booted deployment to the desired one, in the order that rpm-ostree and bootc support. Each step
// continues from what the previous ones staged.
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
  /** Human-readable: the message if it fails. */
  readonly failing: string;
}

export interface StepsRequest {
  readonly booted: RpmOstreeDeployment;
  readonly change: OSChange;
  /** The tool that changes images on this machine. If packages are involved, rpm-ostree is used anyway. */
  readonly imageTool: 'rpm-ostree' | 'bootc';
  /** Podman already has the image. */
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

/**
 * Whether rpm-ostree needs the extensions image: the result has packages, and this change makes rpm-ostree resolve
 * them.
 */
export function needsPackages({ booted, change }: DesiredDeployment): boolean {
  const wanted = changePackages(booted.packages, change);
  const looksForThem =
    switchesImage({ booted, change }) || change.extensions !== undefined || change.kernelType !== undefined;
  return looksForThem && wanted.length > 0;
}

/** All images that the change needs, and nothing else. */
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

/** Restores the image's kernel first, because overrides do not fit another image. */
function resetKernel(booted: RpmOstreeDeployment): OSStep[] {
  const removals = booted.removals.filter((name) => DEFAULT_KERNEL.includes(name));
  const packages = booted.packages.filter(isKernelPackage);
  if (removals.length === 0 || packages.length === 0) return [];
  const args = ['override', 'reset', ...removals, ...packages.flatMap((name) => ['--uninstall', name])];
  return [{ program: 'rpm-ostree', args, failing: 'The kernel of the OS image cannot be restored' }];
}

function switchImage(request: StepsRequest, image: string): OSStep {
  const { booted, change, imageTool, isPulled } = request;
  const failing = `The OS cannot be changed to the image ${image}`;
  const isModified = booted.packages.length + booted.removals.length + changePackages([], change).length > 0;
  if (imageTool === 'bootc' && !isModified) {
    const transport = isPulled ? ['--transport', 'containers-storage'] : [];
    return { program: 'bootc', args: ['switch', ...transport, image], failing };
  }
  const scheme = isPulled ? 'ostree-unverified-image:containers-storage:' : 'ostree-unverified-registry:';
  // Old versions require this option for images; later ones accept it.
  return { program: 'rpm-ostree', args: ['rebase', '--experimental', `${scheme}${image}`], failing };
}

/** In a single call: an argument that is both removed and added moves to the end. */
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
  return [{ program: 'rpm-ostree', args, failing: `The image’s kernel cannot be replaced with ${kernelType}` }];
}

/** The same packages from another extensions image, possibly in another version. */
function updatePackages({ booted, change }: Pick<StepsRequest, 'booted' | 'change'>): OSStep[] {
  const wanted = changePackages(booted.packages, change);
  const isSame = change.extensions !== undefined && isEqual(wanted, booted.packages.toSorted());
  if (!isSame || wanted.length === 0 || !change.extensionsImage) return [];
  return [{ program: 'rpm-ostree', args: ['update'], failing: 'The packages cannot be updated to another version' }];
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
