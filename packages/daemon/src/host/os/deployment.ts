// What a deployment of the OS is made of: its image, its kernel arguments, its packages; and whether one that is staged has them.
import { isEqual } from '@slipway/base/equal';
import type { Deployment, OSChange } from '../host.ts';

/** What the next boot would not bring, though every command said that it went well. One sentence each. */
export function checkStaged(booted: Deployment, next: Deployment, change: OSChange): string[] {
  return [...checkImage(next, change), ...checkArguments(booted, next, change), ...checkPackages(booted, next, change)];
}

function checkImage(next: Deployment, { image }: OSChange): string[] {
  if (image === undefined || next.image === image) return [];
  return [`Expected the image ${image}, the next boot has ${next.image || 'none'}.`];
}

/** The order counts among ours; a new image may have brought arguments of its own. */
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
      : [`Expected the kernel argument ${left[0]}, the next boot has it not, or not in its place.`]),
    ...gone.map((argument) => `Expected the kernel argument ${argument} to be gone, the next boot still has it.`),
  ];
}

function checkPackages(booted: Deployment, next: Deployment, change: OSChange): string[] {
  const wanted = changePackages(booted.packages, change);
  if (isEqual(next.packages.toSorted(), wanted)) return [];
  const text = (names: readonly string[]) => names.join(', ') || 'none';
  return [`Expected the packages ${text(wanted)} beside those of the image, the next boot has ${text(next.packages)}.`];
}

// Kernel arguments.

/** Each of `removed` goes once, the first of that text; `added` come at the end, in their order. */
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

/** What the boot loader put there for itself is none of the OS's, and where ostree finds the deployment changes with others. */
export function readCommandLine(text: string): string[] {
  return splitKernelArguments(text).filter((argument) => !/^(BOOT_IMAGE|ostree)=/.test(argument));
}

/** Of a command line: at spaces, but not at those between quotes. */
function splitKernelArguments(text: string): string[] {
  return text.match(/(?:"[^"]*"|[^\s"])+/g) ?? [];
}

// Which packages an extension or a kernel is made of. The names are those of the RHCOS and SCOS extensions images.

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

/** Each package once, sorted; an extension that is not known is a package of that name. */
export function listExtensionPackages(extensions: readonly string[]): string[] {
  return [...new Set(extensions.flatMap((name) => EXTENSION_PACKAGES[name] ?? [name]))].toSorted();
}

/** Those that come in place of the default kernel; none for the default one. */
export function listKernelPackages(kernelType: string): readonly string[] {
  return OTHER_KERNELS[kernelType] ?? [];
}

/** What is asked for once the change is made: neither what others have asked for is lost, nor what both sides have. */
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

/** The digest that an image is named by; '' where it is named by a tag. */
export function parseDigest(image: string): string {
  return DIGEST.exec(image)?.[1] ?? '';
}

/** As osImageURL has it, of a reference as ostree keeps it: without scheme and transport. */
export function parseImageReference(reference: string): string {
  return reference.replace(SCHEME, '').replace(TRANSPORT, '');
}
