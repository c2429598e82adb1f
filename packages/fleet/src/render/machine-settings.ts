import type { KernelType, RenderInput } from './input.ts';
import { nameOfMachineConfig, problemAt, type RenderProblem } from './problem.ts';

// What MachineConfigs say beside their Ignition configs: kernel, extensions, FIPS and the images of the OS.

/** The images that the cluster brings, where it brings any. */
export interface OSImages {
  readonly osImageURL?: string;
  readonly baseOSExtensionsContainerImage?: string;
}

/** The stream of a pool. */
export interface OSStream {
  readonly name: string;
  /** Whether the owner of the pool names it, in spec.osImageStream, and does not just stay on it. */
  readonly isAsked: boolean;
}

/** What the OS of a pool is rendered from. */
export interface RenderImages {
  readonly osImages: OSImages;
  /** The stream that they are of; null: of none. */
  readonly osStream: OSStream | null;
}

export const OS_IMAGE_FIELDS = ['osImageURL', 'baseOSExtensionsContainerImage'] as const;

type OSImageField = (typeof OS_IMAGE_FIELDS)[number];

/** One form for one meaning, since the name is a hash over it: lists and flags are always there, an image only where there is one. */
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
    // Some arguments mean more when they stand twice, such as console=: none is dropped.
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

/** kernel-devel is made for the default kernel only: beside another one it cannot be installed. */
export function kernelDevelProblems(inputs: readonly RenderInput[]): RenderProblem[] {
  const kernel = inputs.findLast(hasOwnKernel);
  const devel = inputs.findLast((input) => input.extensions.includes('kernel-devel'));
  if (kernel === undefined || devel === undefined) return [];
  const asked = kernel === devel ? 'the same MachineConfig' : nameOfMachineConfig(kernel.name);
  const text =
    `the extension kernel-devel needs the default kernel, but ${asked} has spec.kernelType ${kernel.kernelType}. ` +
    'Remove the extension from the one or the kernel type from the other';
  return [problemAt('SLW_RENDER_KERNEL_DEVEL', nameOfMachineConfig(devel.name), 'spec.extensions', text)];
}

/** An image that no longer follows the cluster's is allowed, and worth knowing. */
export function imageWarnings(inputs: readonly RenderInput[], osImages: OSImages): RenderProblem[] {
  return OS_IMAGE_FIELDS.flatMap((field) => {
    const setter = inputs.findLast((input) => input[field] !== '');
    const own = osImages[field] ?? '';
    if (setter === undefined || own === '' || setter[field] === own) return [];
    const text =
      `${setter[field]} replaces the image of the cluster, ${own}, and is no longer updated with it. ` +
      'Remove the field to follow the cluster again';
    return [problemAt('SLW_RENDER_OS_IMAGE', nameOfMachineConfig(setter.name), `spec.${field}`, text)];
  });
}

/** One owner cannot mean two operating systems: who asks for a stream by name and for an image has to drop one of them. */
export function streamProblems(
  pool: string,
  inputs: readonly RenderInput[],
  osStream: OSStream | null,
): RenderProblem[] {
  if (osStream === null || !osStream.isAsked) return [];
  const people = inputs.filter(({ generatedBy }) => generatedBy === '');
  return people.flatMap((input) =>
    OS_IMAGE_FIELDS.filter((field) => input[field] !== '').map((field) => {
      const text =
        `${input[field]} is asked for here, and the stream ${osStream.name} by spec.osImageStream of MachineConfigPool ${pool}: ` +
        'expected only one of the two. Remove the field here to follow the stream, or spec.osImageStream there to use this image';
      return problemAt('SLW_RENDER_OS_STREAM', nameOfMachineConfig(input.name), `spec.${field}`, text);
    }),
  );
}
