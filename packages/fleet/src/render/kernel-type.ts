export const KERNEL_TYPES = ['default', 'realtime', '64k-pages'] as const;

export type KernelType = (typeof KERNEL_TYPES)[number];

export function isKernelType(text: string): text is KernelType {
  return KERNEL_TYPES.some((type) => type === text);
}
