import type { KernelType, RenderInput } from './input.ts';
import { nameOfMachineConfig, problemAt, type RenderProblem } from './problem.ts';

// The settings of MachineConfigs besides Ignition: kernel, extensions, FIPS and OS images.

/** The OS images of the cluster, if it has any. */
export interface OSImages {
  readonly osImageURL?: string;
  readonly baseOSExtensionsContainerImage?: string;
}

/** The stream of a pool. */
export interface OSStream {
  readonly name: string;
  /** Whether spec.osImageStream of the pool names it; otherwise the pool just stays on it. */
  readonly isAsked: boolean;
}

/** The OS images that a pool is rendered with. */
export interface RenderImages {
  readonly osImages: OSImages;
  /** The stream that they belong to; null: none. */
  readonly osStream: OSStream | null;
}

export const OS_IMAGE_FIELDS = ['osImageURL', 'baseOSExtensionsContainerImage'] as const;

type OSImageField = (typeof OS_IMAGE_FIELDS)[number];

/** Normalised, because the name is a hash of it: lists and flags are always present, an image only if there is one. */
export interface MachineSettings {
  kernelArguments: string[];
  kernelType: KernelType;
  extensions: string[];
  fips: boolean;
  osImageURL?: string;
  baseOSExtensionsContainerImage?: string;
}

export function mergeSettings(inputs: readonly RenderInput[], osImages: OSImages): MachineSettings {
  return {
    // Some arguments, such as console=, may be repeated on purpose: none is dropped.
    kernelArguments: inputs.flatMap((input) => input.kernelArguments),
    kernelType: inputs.findLast(hasOwnKernel)?.kernelType ?? 'default',
    extensions: [...new Set(inputs.flatMap((input) => input.extensions))].sort(),
    fips: inputs.some((input) => input.fips),
    ...selectImage('osImageURL', inputs, osImages),
    ...selectImage('baseOSExtensionsContainerImage', inputs, osImages),
  };
}

export const hasOwnKernel = (input: RenderInput): boolean => input.kernelType !== 'default';

function selectImage(field: OSImageField, inputs: readonly RenderInput[], osImages: OSImages): OSImages {
  const image = inputs.findLast((input) => input[field] !== '')?.[field] ?? osImages[field] ?? '';
  return image === '' ? {} : { [field]: image };
}

/** kernel-devel exists only for the default kernel: it cannot be installed with another one. */
export function kernelDevelProblems(inputs: readonly RenderInput[]): RenderProblem[] {
  const kernel = inputs.findLast(hasOwnKernel);
  const devel = inputs.findLast((input) => input.extensions.includes('kernel-devel'));
  if (kernel === undefined || devel === undefined) return [];
  const asked = kernel === devel ? 'the same MachineConfig' : nameOfMachineConfig(kernel.name);
  const text =
    `the extension kernel-devel needs the default kernel, but ${asked} has spec.kernelType ${kernel.kernelType}. ` +
    'Remove either the extension or the kernel type';
  return [problemAt('SLW_RENDER_KERNEL_DEVEL', nameOfMachineConfig(devel.name), 'spec.extensions', text)];
}

/** An image that does not follow the cluster's is allowed, but worth a warning. */
export function imageWarnings(inputs: readonly RenderInput[], osImages: OSImages): RenderProblem[] {
  return OS_IMAGE_FIELDS.flatMap((field) => {
    const setter = inputs.findLast((input) => input[field] !== '');
    const own = osImages[field] ?? '';
    if (setter === undefined || own === '' || setter[field] === own) return [];
    const text =
      `${setter[field]} replaces the image of the cluster, ${own}, and is not updated with the cluster. ` +
      'Remove the field to follow the cluster again';
    return [problemAt('SLW_RENDER_OS_IMAGE', nameOfMachineConfig(setter.name), `spec.${field}`, text)];
  });
}

/** A user who requests both a stream and an image must drop one of them. */
export function streamProblems(
  pool: string,
  inputs: readonly RenderInput[],
  osStream: OSStream | null,
): RenderProblem[] {
  if (osStream === null || !osStream.isAsked) return [];
  const fromUsers = inputs.filter(({ generatedBy }) => generatedBy === '');
  return fromUsers.flatMap((input) =>
    OS_IMAGE_FIELDS.filter((field) => input[field] !== '').map((field) => {
      const text =
        `found ${input[field]}, but spec.osImageStream of MachineConfigPool ${pool} requests the stream ${osStream.name}: ` +
        'expected only one of the two. Remove this field to follow the stream, or spec.osImageStream of the pool to use this image';
      return problemAt('SLW_RENDER_OS_STREAM', nameOfMachineConfig(input.name), `spec.${field}`, text);
    }),
  );
}
