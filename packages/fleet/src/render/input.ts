// One MachineConfig, read and validated individually: the input of a render.
import {
  extensionNames,
  generatedByAnnotation,
  kernelTypes,
  type MachineConfig,
  type MachineConfigPool,
  machineConfigs,
} from '@slipway/api';
import { nearNames } from '@slipway/base/near-names';
import { quote } from '@slipway/base/text';
import { type AnyConfig, checkContents } from '@slipway/ignition';
import { findUnknownKeys } from './unknown-keys.ts';
import { type ConfigOrigin, type IgnitionRead, readIgnition, type RenderedIgnition } from './ignition.ts';
import { firstProblems, nameOfMachineConfig, problemAt, problemsIn, type RenderProblem } from './problem.ts';

export type ObjectReference = NonNullable<NonNullable<MachineConfigPool['spec']['configuration']>['source']>[number];

/** Created only by `readMachineConfig`. It depends only on the MachineConfig, so it can be cached until that changes. */
export interface RenderInput {
  readonly name: string;
  readonly config: RenderedIgnition;
  readonly kernelArguments: readonly string[];
  readonly kernelType: KernelType;
  readonly extensions: readonly string[];
  readonly fips: boolean;
  /** '' if it has none. */
  readonly osImageURL: string;
  readonly baseOSExtensionsContainerImage: string;
  /** The controller version that created it; '' if a user did. */
  readonly generatedBy: string;
  readonly reference: ObjectReference;
  readonly warnings: readonly RenderProblem[];
}

export type ReadResult = { ok: true; input: RenderInput } | { ok: false; problems: RenderProblem[] };

/**
 * Prepares a MachineConfig for the merge. `resolved` is its Ignition config with all remote content inlined; without
 * it, the config of the MachineConfig is used.
 */
export async function readMachineConfig(
  machineConfig: MachineConfig,
  resolved?: unknown,
  origin?: ConfigOrigin,
): Promise<ReadResult> {
  const { name } = machineConfig.metadata;
  const object = nameOfMachineConfig(name);
  const spec = machineConfig.spec ?? {};
  const read = readIgnition(object, resolved ?? spec.config, origin);
  const kernelType = (spec.kernelType ?? '') || 'default';
  const isSource = origin !== 'rendered';
  const unknown = isSource && mayHaveUnknownKeys(read, resolved) ? findUnknownKeys(spec.config) : [];
  const problems = [
    ...(read.ok ? [] : read.problems),
    ...problemsIn(unknown, 'error', { code: 'SLW_RENDER_UNKNOWN_KEY', object }),
    ...(read.ok && isSource ? await contentProblems(object, read.own) : []),
    ...kernelTypeProblems(object, kernelType),
    ...(isSource ? extensionProblems(object, spec.extensions ?? []) : []),
  ];
  if (problems.length > 0 || !isKernelType(kernelType) || !read.ok) return { ok: false, problems };
  const warnings = firstProblems([
    ...problemsIn(unknown, 'warning', { code: 'SLW_RENDER_IGNITION', object }),
    ...read.warnings,
  ]);
  const { config } = read;
  return { ok: true, input: { ...readIdentity(machineConfig), ...settingsIn(spec), kernelType, config, warnings } };
}

/** A resolved config has only the known keys. All mistakes of a config that cannot be used are reported together. */
const mayHaveUnknownKeys = (read: IgnitionRead, resolved: unknown): boolean =>
  resolved !== undefined || !read.ok || read.hasUnknownKeys;

async function contentProblems(object: string, own: AnyConfig): Promise<RenderProblem[]> {
  const report = await checkContents(own);
  return firstProblems(problemsIn(report, 'error', { code: 'SLW_RENDER_CONTENTS', object }));
}

function readIdentity({ metadata: { name, annotations } }: MachineConfig): Identity {
  return {
    name,
    generatedBy: annotations?.[generatedByAnnotation] ?? '',
    reference: { apiVersion: `${machineConfigs.group}/${machineConfigs.version}`, kind: machineConfigs.kind, name },
  };
}

type Identity = Pick<RenderInput, 'name' | 'generatedBy' | 'reference'>;
type Settings = Omit<RenderInput, keyof Identity | 'kernelType' | 'config' | 'warnings'>;

function settingsIn(spec: NonNullable<MachineConfig['spec']>): Settings {
  return {
    kernelArguments: spec.kernelArguments ?? [],
    extensions: spec.extensions ?? [],
    fips: spec.fips ?? false,
    osImageURL: spec.osImageURL ?? '',
    baseOSExtensionsContainerImage: spec.baseOSExtensionsContainerImage ?? '',
  };
}

function kernelTypeProblems(object: string, found: string): RenderProblem[] {
  if (isKernelType(found)) return [];
  const expected = `expected ${kernelTypes.join(', ')} or none`;
  const text = `${expected}, found ${JSON.stringify(found.slice(0, 80))}. Use one of these, or remove the field`;
  return [problemAt('SLW_RENDER_KERNEL_TYPE', object, 'spec.kernelType', text)];
}

/** Others than these are not in the extensions images, so no machine could install them. */
function extensionProblems(object: string, extensions: readonly string[]): RenderProblem[] {
  const known: readonly string[] = extensionNames;
  const problems = [...extensions.entries()].flatMap(([index, name]): RenderProblem[] => {
    if (known.includes(name)) return [];
    const [near] = nearNames(name, known);
    const text =
      near === undefined
        ? `expected one of ${known.join(', ')}, found ${quote(name, 80)}. Use one of these, or remove the entry`
        : `${quote(name, 80)} is not an extension. Write ${near}`;
    return [problemAt('SLW_RENDER_EXTENSION', object, `spec.extensions[${index}]`, text)];
  });
  return firstProblems(problems);
}

export type KernelType = (typeof kernelTypes)[number];

function isKernelType(text: string): text is KernelType {
  return kernelTypes.some((type) => type === text);
}
