// The parts of an OS deployment: image, kernel arguments, packages; and the check that a staged deployment has them.
import { isEqual } from '@slipway/base/equal';
import type { Deployment, OSChange } from '../host.ts';

/** What the next boot would lack although every command succeeded. One sentence each. */
export function checkStaged(booted: Deployment, next: Deployment, change: OSChange): string[] {
  return [...checkImage(next, change), ...checkArguments(booted, next, change), ...checkPackages(booted, next, change)];
}

function checkImage(next: Deployment, { image }: OSChange): string[] {
  if (image === undefined || next.image === image) return [];
  return [`Expected the image ${image}, but the next boot has ${next.image || 'none'}.`];
}

/** Only the order of the config's arguments matters. A new image may add arguments. */
function checkArguments(booted: Deployment, next: Deployment, { kernelArguments }: OSChange): string[] {
  if (kernelArguments === undefined) return [];
  const wanted = changeKernelArguments(booted.kernelArguments, kernelArguments);
  const left = [...wanted];
  for (const argument of next.kernelArguments) if (argument === left[0]) left.shift();
  const gone = kernelArguments.removed.filter(
    (argument) => next.kernelArguments.includes(argument) && !wanted.includes(argument),
  );
  return [
    ...(left.length === 0
      ? []
      : [`Expected the kernel argument ${left[0]}, but the next boot does not have it, or not in the right position.`]),
    ...gone.map((argument) => `Expected no kernel argument ${argument}, but the next boot still has it.`),
  ];
}

function checkPackages(booted: Deployment, next: Deployment, change: OSChange): string[] {
  const wanted = changePackages(booted.packages, change);
  if (isEqual(next.packages.toSorted(), wanted)) return [];
  const text = (names: readonly string[]) => names.join(', ') || 'none';
  return [
    `Expected the packages ${text(wanted)} in addition to those of the image, but the next boot has ${text(next.packages)}.`,
  ];
}

// Kernel arguments.

/** Removes the first occurrence of each of `removed`, then appends `added` in order. */
export function changeKernelArguments(
  args: readonly string[],
  change: { readonly removed: readonly string[]; readonly added: readonly string[] },
): string[] {
  const left = [...args];
  for (const removed of change.removed) {
    const at = left.indexOf(removed);
    if (at !== -1) left.splice(at, 1);
  }
  return [...left, ...change.added];
}

/** Drops the boot loader's arguments, and ostree=…, whose value changes between deployments. */
export function readCommandLine(text: string): string[] {
  return splitKernelArguments(text).filter((argument) => !/^(BOOT_IMAGE|ostree)=/.test(argument));
}

/** Splits at spaces, except between quotes. */
function splitKernelArguments(text: string): string[] {
  return text.match(/(?:"[^"]*"|[^\s"])+/g) ?? [];
}

// The packages of extensions and kernels. The names are those of the RHCOS and SCOS extensions images.

const EXTENSION_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'two-node-ha': ['pacemaker', 'pcs', 'fence-agents-all'],
  ipsec: ['NetworkManager-libreswan', 'libreswan', 'openvswitch3.5-ipsec'],
  usbguard: ['usbguard'],
  kerberos: ['krb5-workstation', 'libkadm5'],
  'kernel-devel': ['kernel-devel', 'kernel-headers'],
  'sandboxed-containers': ['kata-containers'],
  sysstat: ['sysstat'],
};

export const DEFAULT_KERNEL: readonly string[] = [
  'kernel',
  'kernel-core',
  'kernel-modules',
  'kernel-modules-core',
  'kernel-modules-extra',
];

const OTHER_KERNELS: Readonly<Record<string, readonly string[]>> = {
  realtime: ['kernel-rt-core', 'kernel-rt-modules', 'kernel-rt-modules-extra'],
  '64k-pages': ['kernel-64k-core', 'kernel-64k-modules', 'kernel-64k-modules-core', 'kernel-64k-modules-extra'],
};

/** Sorted, without duplicates. An unknown extension is a package of that name. */
export function listExtensionPackages(extensions: readonly string[]): string[] {
  return [...new Set(extensions.flatMap((name) => EXTENSION_PACKAGES[name] ?? [name]))].toSorted();
}

/** The packages that replace the default kernel. Empty for the default one. */
export function listKernelPackages(kernelType: string): readonly string[] {
  return OTHER_KERNELS[kernelType] ?? [];
}

/** The requested packages after the change. Packages that other tools requested stay, and so do those in both lists. */
export function changePackages(
  packages: readonly string[],
  change: {
    readonly extensions?: { readonly before: readonly string[]; readonly after: readonly string[] };
    readonly kernelType?: { readonly before: string; readonly after: string };
  },
): string[] {
  const { extensions = { before: [], after: [] }, kernelType = { before: '', after: '' } } = change;
  const before = new Set([...listExtensionPackages(extensions.before), ...listKernelPackages(kernelType.before)]);
  const after = [...listExtensionPackages(extensions.after), ...listKernelPackages(kernelType.after)];
  return [...new Set([...packages.filter((name) => !before.has(name)), ...after])].toSorted();
}

export function isKernelPackage(name: string): boolean {
  return Object.values(OTHER_KERNELS).some((packages) => packages.includes(name));
}

export function findKernelType(packages: readonly string[]): string {
  const found = Object.entries(OTHER_KERNELS).find(([, names]) => names.some((name) => packages.includes(name)));
  return found?.[0] ?? 'default';
}

// Names of images.

const DIGEST = /@(sha256:[0-9a-f]{64})$/;

const SCHEME =
  /^(?:ostree-unverified-registry|ostree-unverified-image|ostree-image-signed|ostree-remote-registry:[^:]+|ostree-remote-image:[^:]+):/;

const TRANSPORT = /^(?:docker:\/\/|registry:|containers-storage:(?:\[[^\]]*\])?|oci:|oci-archive:|docker-daemon:)/;

/** The digest in an image name. '' if it has a tag instead. */
export function parseDigest(image: string): string {
  return DIGEST.exec(image)?.[1] ?? '';
}

/** Converts a reference of ostree to the form of osImageURL: without scheme and transport. */
export function parseImageReference(reference: string): string {
  return reference.replace(SCHEME, '').replace(TRANSPORT, '');
}
