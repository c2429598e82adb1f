// Merges the MachineConfigs of a pool into one static rendered config whose name is a hash of its contents.
import { generatedByAnnotation, type MachineConfig } from '@slipway/api';
import { maskUrl, merge, type Provenance } from '@slipway/ignition';
import { conflictProblems, describeContributors, largestContributors } from './conflict.ts';
import { RenderProvenance } from './diff.ts';
import type { File, RENDERED_VERSION, RenderedIgnition } from './ignition.ts';
import { fieldOfConfig, firstProblems, nameOfMachineConfig, problemAt, type RenderProblem } from './problem.ts';
import { remoteReferences } from './remote.ts';
import { type ObjectReference, type RenderInput } from './input.ts';
import {
  imageWarnings,
  kernelDevelProblems,
  type MachineSettings,
  mergeSettings,
  type OSImages,
  type OSStream,
  streamProblems,
} from './machine-settings.ts';
import { canonicalJson, nameByDigests, renderedName } from './rendered-name.ts';
import { compressContents, MAX_SPEC_BYTES, storedSize, computeStoredSize } from './size.ts';

/** The normalised spec of a rendered config, which is an ordinary MachineConfig spec. */
export type RenderedSpec = MachineSettings & { config: RenderedIgnition };

export interface RenderRequest {
  readonly pool: string;
  /** In merge order, from `selectMachineConfigs`. */
  readonly inputs: readonly RenderInput[];
  readonly osImages: OSImages;
  /** The stream that `osImages` belong to; null or omitted: none. */
  readonly osStream?: OSStream | null | undefined;
  readonly controllerVersion: string;
}

export interface RenderedConfig {
  /** `rendered-<pool>-<32 hex digits>` */
  readonly name: string;
  readonly spec: RenderedSpec & NonNullable<MachineConfig['spec']>;
  /** For `spec.configuration.source` of the pool. */
  readonly sources: ObjectReference[];
  /** The stored size of the spec. */
  readonly bytes: number;
  /** The stream that its OS image belongs to; null: none, or a MachineConfig sets another image. */
  readonly osStream: string | null;
}

export type RenderResult =
  | { ok: true; rendered: RenderedConfig; provenance: RenderProvenance; warnings: RenderProblem[] }
  | { ok: false; problems: RenderProblem[] };

export async function renderPool(request: RenderRequest): Promise<RenderResult> {
  const { pool, inputs, osImages } = request;
  const early = [
    ...emptyProblems(request),
    ...versionProblems(request),
    ...kernelDevelProblems(inputs),
    ...streamProblems(pool, inputs, request.osStream ?? null),
  ];
  if (early.length > 0) return refuse(early);
  const merged = merge<typeof RENDERED_VERSION>(inputs);
  const config = withOverwrite(merged.config);
  const late = [
    ...(await conflictProblems(config, merged.provenance, inputs)),
    ...remoteProblems(config, merged.provenance),
  ];
  if (late.length > 0) return refuse(late);
  const plain: RenderedSpec = { config, ...mergeSettings(inputs, osImages) };
  const json = canonicalJson(plain);
  const bytes = new TextEncoder().encode(json);
  const size = storedSize(json, bytes.length);
  const fitted = await fit(plain, size);
  if (fitted.bytes > MAX_SPEC_BYTES) return refuse([sizeProblem(pool, fitted, merged.provenance)]);
  return {
    ok: true,
    rendered: {
      name: size > MAX_SPEC_BYTES ? await nameByDigests(pool, { ...plain }) : renderedName(pool, bytes),
      spec: fitted.spec,
      sources: inputs.map((input) => input.reference),
      bytes: fitted.bytes,
      osStream: fitted.spec.osImageURL === osImages.osImageURL ? (request.osStream?.name ?? null) : null,
    },
    provenance: new RenderProvenance(merged.provenance, inputs),
    warnings: [...imageWarnings(inputs, osImages), ...inputs.flatMap((input) => input.warnings)],
  };
}

function refuse(problems: readonly RenderProblem[]): RenderResult {
  return { ok: false, problems: firstProblems(problems) };
}

function emptyProblems({ pool, inputs }: RenderRequest): RenderProblem[] {
  if (inputs.length > 0) return [];
  const text =
    'expected at least one matching MachineConfig, found none. Correct the selector, or label a MachineConfig to match it';
  return [problemAt('SLW_RENDER_NO_CONFIG', `MachineConfigPool ${pool}`, 'spec.machineConfigSelector', text)];
}

/** During an upgrade, MachineConfigs of the old controller would mix with those of the new one. */
function versionProblems({ inputs, controllerVersion }: RenderRequest): RenderProblem[] {
  return inputs
    .filter(({ generatedBy }) => generatedBy !== '' && generatedBy !== controllerVersion)
    .map(({ name, generatedBy }) => {
      const field = `metadata.annotations["${generatedByAnnotation}"]`;
      const text =
        `expected ${controllerVersion}, found ${generatedBy.slice(0, 80)}. The controller that created it updates it after an ` +
        'upgrade; if a user created this MachineConfig, remove the annotation';
      return problemAt('SLW_RENDER_VERSION', nameOfMachineConfig(name), field, text);
    });
}

/**
 * Ignition fails on an existing file unless overwrite is set, and a daemon always overwrites: without this, a running
 * machine would accept a config that a new one rejects. A file without contents cannot be overwritten.
 */
function withOverwrite(config: RenderedIgnition): RenderedIgnition {
  const files = config.storage?.files;
  if (files === undefined) return config;
  const whole = files.map(overwriting);
  return { ...config, storage: { ...config.storage, files: whole } };
}

function overwriting(file: File): File {
  return file.overwrite === undefined && file.contents?.source !== undefined ? { ...file, overwrite: true } : file;
}

/** The inputs were already checked. This checks the result as well. */
function remoteProblems(config: RenderedIgnition, provenance: Provenance): RenderProblem[] {
  return remoteReferences(config).map(({ path, source }) => {
    const object = nameOfMachineConfig(provenance.get(path)?.from ?? '');
    const text = `expected no remote content in the rendered config, found a reference to ${maskUrl(source)}`;
    return problemAt('SLW_RENDER_REMOTE', object, fieldOfConfig(path), text);
  });
}

interface Fitted {
  readonly spec: RenderedSpec;
  readonly bytes: number;
}

async function fit(spec: RenderedSpec, bytes: number): Promise<Fitted> {
  if (bytes <= MAX_SPEC_BYTES) return { spec, bytes };
  const { config } = await compressContents(spec.config, bytes - MAX_SPEC_BYTES);
  const packed = { ...spec, config };
  return { spec: packed, bytes: computeStoredSize(packed) };
}

function sizeProblem(pool: string, { spec, bytes }: Fitted, provenance: Provenance): RenderProblem {
  const largest = describeContributors(largestContributors(spec.config, provenance));
  const text =
    `the rendered config has ${bytes} bytes with compressed contents, and an API object can have at most ` +
    `${MAX_SPEC_BYTES}. The largest: ${largest}. Make these smaller, or deliver the content to machines in another way`;
  return problemAt('SLW_RENDER_TOO_LARGE', `MachineConfigPool ${pool}`, '', text);
}
