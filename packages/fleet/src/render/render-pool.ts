// The MachineConfigs of a pool → one static rendered config with a name that says what is in it.
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
import { canonicalJson, renderedName } from './rendered-name.ts';
import { compressContents, MAX_SPEC_BYTES, storedSize, computeStoredSize } from './size.ts';

/** A spec as rendered configs have it: one form for one meaning. It is a MachineConfig's spec like any other. */
export type RenderedSpec = MachineSettings & { config: RenderedIgnition };

export interface RenderRequest {
  readonly pool: string;
  /** In the order of the merge, as `selectMachineConfigs` gives it. */
  readonly inputs: readonly RenderInput[];
  readonly osImages: OSImages;
  /** The stream that `osImages` are of. Null or left out: they are of none. */
  readonly osStream?: OSStream | null | undefined;
  readonly controllerVersion: string;
}

export interface RenderedConfig {
  /** `rendered-<pool>-<32 hex digits>` */
  readonly name: string;
  readonly spec: RenderedSpec & NonNullable<MachineConfig['spec']>;
  /** For `spec.configuration.source` of the pool. */
  readonly sources: ObjectReference[];
  /** Size of the spec where it is stored. */
  readonly bytes: number;
  /** The stream that its OS image is of; null: none, or a MachineConfig brings an image of its own. */
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
  const late = [...conflictProblems(config, merged.provenance, inputs), ...remoteProblems(config, merged.provenance)];
  if (late.length > 0) return refuse(late);
  const plain: RenderedSpec = { config, ...mergeSettings(inputs, osImages) };
  const json = canonicalJson(plain);
  const bytes = new TextEncoder().encode(json);
  const fitted = await fit(plain, storedSize(json, bytes.length));
  if (fitted.bytes > MAX_SPEC_BYTES) return refuse([sizeProblem(pool, fitted, merged.provenance)]);
  return {
    ok: true,
    rendered: {
      name: renderedName(pool, bytes),
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
    'it selects no MachineConfig, expected at least one. Correct the selector, or label a MachineConfig to match it';
  return [problemAt('SLW_RENDER_NO_CONFIG', `MachineConfigPool ${pool}`, 'spec.machineConfigSelector', text)];
}

/** While controllers are replaced, the old one's MachineConfigs would mix with the new one's. */
function versionProblems({ inputs, controllerVersion }: RenderRequest): RenderProblem[] {
  return inputs
    .filter(({ generatedBy }) => generatedBy !== '' && generatedBy !== controllerVersion)
    .map(({ name, generatedBy }) => {
      const field = `metadata.annotations["${generatedByAnnotation}"]`;
      const text =
        `it was made by controller version ${generatedBy.slice(0, 80)}, expected ${controllerVersion}. Its controller ` +
        'writes it anew after an update; on a MachineConfig that a person made, remove the annotation';
      return problemAt('SLW_RENDER_VERSION', nameOfMachineConfig(name), field, text);
    });
}

/**
 * Ignition fails on a file that exists unless told to overwrite, and a daemon always overwrites: without this, a running
 * machine would take a config that a new one does not. A file without contents cannot be overwritten.
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

/** The inputs were looked at already. This looks at the result itself: it holds whatever they said. */
function remoteProblems(config: RenderedIgnition, provenance: Provenance): RenderProblem[] {
  return remoteReferences(config).map(({ path, source }) => {
    const object = nameOfMachineConfig(provenance.get(path)?.from ?? '');
    const text = `the result refers to ${maskUrl(source)}, but a rendered config refers to nothing outside`;
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
    `the rendered config has ${bytes} bytes with contents packed, and at most ${MAX_SPEC_BYTES} fit into one object of ` +
    `the cluster. The largest: ${largest}. Make these smaller, or bring the content to machines in another way`;
  return problemAt('SLW_RENDER_TOO_LARGE', `MachineConfigPool ${pool}`, '', text);
}
