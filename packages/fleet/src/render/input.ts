// What stands in the way of a render, or deserves a look, as plain data for a condition, an event, a terminal or a page.
import { generatedByAnnotation, type MachineConfig, type MachineConfigPool, machineConfigs } from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import { formatPath, type ReportEntry } from '@slipway/ignition';
import type { RenderCode } from '../errors.ts';
import { readIgnition, type RenderedIgnition } from './ignition.ts';
import { isKernelType, KERNEL_TYPES, type KernelType } from './machine-settings.ts';

export interface RenderProblem {
  readonly code: RenderCode;
  /** Such as `MachineConfig 99-worker-chrony`. */
  readonly object: string;
  /** Such as `spec.config.storage.files[3].mode`; '' for the object as a whole. */
  readonly field: string;
  /** Names the object and the field, what was expected and found, and the way out. */
  readonly message: string;
}

/** A broken config can be wrong in a thousand places. People read the first, and a condition has little room. */
const MAX_PROBLEMS = 20;

export function problemAt(code: RenderCode, object: string, field: string, text: string): RenderProblem {
  return { code, object, field, message: `${object}${field === '' ? '' : `, ${field}`}: ${text}` };
}

export const nameOfMachineConfig = (name: string): string => `MachineConfig ${name}`;

/** A path into the Ignition config as a path into the MachineConfig that holds it. */
export const fieldOfConfig = (path: string): string => (path === '' ? 'spec.config' : `spec.config.${path}`);

/** Entries of one kind as problems. */
export function problemsIn(
  report: readonly ReportEntry[],
  kind: ReportEntry['kind'],
  where: { code: RenderCode; object: string; wayOut?: string },
): RenderProblem[] {
  const end = where.wayOut === undefined ? '' : `. ${where.wayOut}`;
  return report
    .filter((entry) => entry.kind === kind)
    .map(({ path, message }) => problemAt(where.code, where.object, fieldOfConfig(path), `${message}${end}`));
}

/** The first problems; the last of them says how many are left out. */
export function firstProblems(problems: readonly RenderProblem[]): RenderProblem[] {
  const shown = problems.slice(0, MAX_PROBLEMS);
  const left = problems.length - shown.length;
  const last = shown.at(-1);
  if (left > 0 && last !== undefined) {
    shown[shown.length - 1] = { ...last, message: `${last.message} (and ${left} more problems that are not listed)` };
  }
  return shown;
}

// One MachineConfig, read and checked on its own: what a render merges.

export type ObjectReference = NonNullable<NonNullable<MachineConfigPool['spec']['configuration']>['source']>[number];

/** Made by `readMachineConfig` alone. It depends on nothing but the MachineConfig, so it may be kept while that stays the same. */
export interface RenderInput {
  readonly name: string;
  readonly config: RenderedIgnition;
  readonly kernelArguments: readonly string[];
  readonly kernelType: KernelType;
  readonly extensions: readonly string[];
  readonly fips: boolean;
  /** '' where it has none. */
  readonly osImageURL: string;
  readonly baseOSExtensionsContainerImage: string;
  /** The controller version that made it; '' for one that a person made. */
  readonly generatedBy: string;
  readonly reference: ObjectReference;
  readonly warnings: readonly RenderProblem[];
}

export type ReadResult = { ok: true; input: RenderInput } | { ok: false; problems: RenderProblem[] };

/**
 * A MachineConfig made ready to merge. `resolved` is its Ignition config with all remote content inside; without it the
 * MachineConfig's own is taken.
 */
export function readMachineConfig(machineConfig: MachineConfig, resolved?: unknown): ReadResult {
  const { name } = machineConfig.metadata;
  const object = nameOfMachineConfig(name);
  const spec = machineConfig.spec ?? {};
  const read = readIgnition(object, resolved ?? spec.config);
  const kernelType = (spec.kernelType ?? '') || 'default';
  if (!isKernelType(kernelType) || !read.ok) {
    return { ok: false, problems: [...(read.ok ? [] : read.problems), ...kernelTypeProblems(object, kernelType)] };
  }
  const { config, warnings } = read;
  return { ok: true, input: { ...identityOf(machineConfig), ...settingsIn(spec), kernelType, config, warnings } };
}

function identityOf({ metadata: { name, annotations } }: MachineConfig): Identity {
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
  const expected = `expected ${KERNEL_TYPES.join(', ')} or none`;
  const text = `${expected}, found ${JSON.stringify(found.slice(0, 80))}. Write one of these, or remove the field`;
  return [problemAt('SLW_RENDER_KERNEL_TYPE', object, 'spec.kernelType', text)];
}

// Where an Ignition config refers to content that lives elsewhere.

export interface RemoteReference {
  /** Such as `storage.files[0].contents.source`. */
  readonly path: string;
  readonly source: string;
}

/** Ignition's own fields nest half as deep; what is deeper is no reference, and the walk must end. */
const MAX_DEPTH = 16;

/** Whether its config must be resolved before it can be merged: contents to fetch, or other configs to take in. */
export function needsRemoteContent(machineConfig: MachineConfig): boolean {
  return remoteReferences(machineConfig.spec?.config).length > 0;
}

/**
 * Every reference to another config, and every source that is no data URL, wherever it stands. In all spec versions
 * `source` is the one field that holds such a URL, so this looks for the field and not at a list of places, which could
 * lack one.
 */
export function remoteReferences(config: unknown): RemoteReference[] {
  const found: RemoteReference[] = [];
  const at: (string | number)[] = [];

  const visit = (value: unknown, toConfig: boolean): void => {
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1) descend(index, value[index], toConfig);
    } else if (isRecord(value)) {
      for (const name of Object.keys(value)) visitField(name, value[name], toConfig);
    }
  };

  const visitField = (name: string, field: unknown, toConfig: boolean): void => {
    if (typeof field === 'object') descend(name, field, toConfig || isConfigReferences(at, name));
    else if (name === 'source' && typeof field === 'string' && mustBeFetched(field, toConfig)) {
      found.push({ path: formatPath([...at, name]), source: field });
    }
  };

  const descend = (segment: string | number, value: unknown, toConfig: boolean): void => {
    if (at.length === MAX_DEPTH) return;
    at.push(segment);
    visit(value, toConfig);
    at.pop();
  };

  visit(config, false);
  return found;
}

function isConfigReferences(at: readonly (string | number)[], name: string): boolean {
  return name === 'config' && at.length === 1 && at[0] === 'ignition';
}

/** Another config has to be taken in even when it stands in a data URL. */
function mustBeFetched(source: string, toConfig: boolean): boolean {
  return source !== '' && (toConfig || !source.startsWith('data:'));
}
