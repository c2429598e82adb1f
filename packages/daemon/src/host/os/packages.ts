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
export function packagesOfExtensions(extensions: readonly string[]): string[] {
  return [...new Set(extensions.flatMap((name) => EXTENSION_PACKAGES[name] ?? [name]))].toSorted();
}

/** Those that come in place of the default kernel; none for the default one. */
export function packagesOfKernel(kernelType: string): readonly string[] {
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
  const before = new Set([...packagesOfExtensions(extensions.before), ...packagesOfKernel(kernelType.before)]);
  const after = [...packagesOfExtensions(extensions.after), ...packagesOfKernel(kernelType.after)];
  return [...new Set([...packages.filter((name) => !before.has(name)), ...after])].toSorted();
}

export function isKernelPackage(name: string): boolean {
  return Object.values(OTHER_KERNELS).some((packages) => packages.includes(name));
}

export function kernelOfPackages(packages: readonly string[]): string {
  const found = Object.entries(OTHER_KERNELS).find(([, names]) => names.some((name) => packages.includes(name)));
  return found?.[0] ?? 'default';
}
