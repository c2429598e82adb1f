// The MachineConfigs of a pool are merged into one rendered config, which is stored, and which the pool then points at.
import {
  generatedByAnnotation,
  inUseLabel,
  type MachineConfig,
  type MachineConfigPool,
  machineConfigPools,
  machineConfigs,
  osStreamAnnotation,
  osStreamImagesAnnotation,
  poolLabel,
  renderProblemsAnnotation,
  secrets,
  sourcesAnnotation,
} from '@slipway/api';
import { sha256 } from '@slipway/base/hash';
import {
  builtInMachineConfigs,
  canonicalJson,
  type CodedProblem,
  encodeProblems,
  formatProblems,
  type RenderedFrom,
  renderPool,
  type RenderResult,
} from '@slipway/fleet';
import { indexAnnotations, REMOTE_CONTENT_LABEL } from '@slipway/fleet/remote-content';
import { again, formatApiVersion, type Context, type ControllerDef, done, type Next, type Stored } from '@slipway/kube';
import { OS_STREAMS_GATE, usesStreams } from '../feature-gates.ts';
import { type PoolOsOptions, resolvePoolOs, poolOsSources } from '../pool-os.ts';
import { everyPool, sourceMachineConfigs, osImagesSource, renderedMachineConfigs } from '../sources.ts';
import { poolsSelecting, prepare, type ReadyConfigs } from './gather.ts';

/** Ours is the namespace where also the snapshots of remote content are. With the gate OSStreams on, a pool has the OS of its stream. */
export interface RenderOptions extends PoolOsOptions {
  readonly controllerVersion: string;
}

type Pool = Stored<MachineConfigPool>;
type Rendered = Extract<RenderResult, { ok: true }>;

/**
 * A hundred edits that come at once make one rendered config and not a hundred, of which ninety-nine would be stored, perhaps
 * begun to be rolled out, and collected again. Short enough that a single edit is not felt to wait, long enough for the next
 * one of a burst to come.
 */
const SETTLE_MS = 250;
/** How soon to look again at a rendered config that is being deleted under a pool. */
const DELETED_REQUEUE_MS = 1000;

/** Merges the MachineConfigs of each pool into one static config and points the pool at it. */
export function renderController(options: RenderOptions): ControllerDef {
  const { namespace } = options;
  const ready: ReadyConfigs = new WeakMap();
  const builtIn = builtInMachineConfigs(options);
  return {
    name: 'render',
    reads: [
      { resource: machineConfigPools, project: keepRenderFields },
      { ...sourceMachineConfigs, keysOf: poolsSelecting },
      { ...renderedMachineConfigs, settles: false },
      {
        resource: secrets,
        as: 'metadata',
        namespace,
        labelSelector: REMOTE_CONTENT_LABEL,
        keysOf: ({ metadata }, read) => {
          const name = metadata.annotations?.[indexAnnotations.machineConfig] ?? '';
          const machineConfig = read(machineConfigs, { as: 'full' }).get(name);
          return machineConfig === undefined ? [] : poolsSelecting(machineConfig, read);
        },
      },
      { ...osImagesSource(namespace), keysOf: everyPool },
      ...poolOsSources(options),
    ],
    owns: [{ resource: machineConfigs }, { resource: machineConfigPools }],
    workers: 2,
    dependsOnGates: [OS_STREAMS_GATE],
    // New machines of a pool that has nothing yet wait for it.
    settleMs: (name, read) =>
      read(machineConfigPools).get(name)?.spec.configuration?.name === undefined ? 0 : SETTLE_MS,
    async reconcile(name, context) {
      const pool = context.read(machineConfigPools).get(name);
      if (pool === undefined || pool.metadata.deletionTimestamp !== undefined) return done();
      const { read, client, signal, log } = context;
      const { controllerVersion } = options;
      const os = resolvePoolOs(pool, options, read);
      const prepared = await prepare(pool, os, { read, client, namespace, signal, ready, builtIn, controllerVersion });
      const { problems, waiting, request } = prepared;
      if (problems.length > 0) return reportProblems(pool, problems, context);
      if (waiting.length > 0) {
        // What is waited for brings the pool back here when it comes.
        log.info({ waiting }, 'waits for MachineConfigs that are being made or fetched');
        return done();
      }
      if (request === null) {
        log.info({}, 'waits for the OS image stream of the pool');
        return done();
      }
      const result = await renderPool(request);
      if (!result.ok) return reportProblems(pool, result.problems, context);
      return applyRendered(pool, prepared.selected, result, options, context);
    },
  };
}

const keptAnnotations: ReadonlySet<string> = new Set([
  renderProblemsAnnotation,
  osStreamAnnotation,
  osStreamImagesAnnotation,
]);

/**
 * What a pool reports of its rollout and its machines changes all the time, and no render depends on it: it would only make
 * edits wait. Written to is the pool in the version that was read, also where nothing that is kept has changed.
 */
function keepRenderFields({ metadata, spec }: Pool): Pool {
  const { name, uid, resourceVersion, deletionTimestamp, annotations = {} } = metadata;
  const kept = Object.entries(annotations).filter(([key]) => keptAnnotations.has(key));
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      annotations: Object.fromEntries(kept),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
    spec,
  };
}

/** The pool keeps its last good config. */
async function reportProblems(
  pool: Pool,
  problems: readonly CodedProblem[],
  { write, events, log }: Context,
): Promise<Next> {
  const annotation = encodeProblems(problems);
  if (pool.metadata.annotations?.[renderProblemsAnnotation] === annotation) return done();
  await write.patch(machineConfigPools, pool, {
    metadata: { annotations: { [renderProblemsAnnotation]: annotation } },
  });
  const message = formatProblems(problems);
  log.warn({ problems }, 'the MachineConfigs of the pool cannot be rendered; it keeps its last good config');
  events.record(machineConfigPools, pool, { type: 'Warning', reason: 'RenderFailed', message });
  return done();
}

/** First the rendered config, then the pool that points at it: a pool never names what is not there. */
async function applyRendered(
  pool: Pool,
  given: readonly Stored<MachineConfig>[],
  result: Rendered,
  { controllerVersion, gates }: RenderOptions,
  context: Context,
): Promise<Next> {
  const { rendered } = result;
  const stream = rendered.osStream === null ? {} : { [osStreamAnnotation]: rendered.osStream };
  const existing = context.read(machineConfigs, { as: 'metadata' }).get(rendered.name);
  if (existing?.metadata.deletionTimestamp !== undefined) return again(DELETED_REQUEUE_MS);
  const manifest: MachineConfig = {
    metadata: {
      name: rendered.name,
      labels: { [poolLabel]: pool.metadata.name, [inUseLabel]: '' },
      annotations: {
        [generatedByAnnotation]: controllerVersion,
        [sourcesAnnotation]: encodeRenderedFrom(given),
        ...stream,
      },
    },
    spec: rendered.spec,
  };
  if (existing === undefined) await createRendered(manifest, context);
  // Nobody changes a rendered config; where somebody did, the server has counted it.
  else if (existing.metadata.generation !== 1) await putBack(pool, manifest, context);
  if (existing !== undefined && usesStreams(gates)) await annotateStream(existing, rendered.osStream, context);

  await pointAt(pool, result, context);
  return done();
}

/** One write for both, so that a pool never shows a problem beside the config that has overcome it. */
async function pointAt(pool: Pool, { rendered, warnings }: Rendered, { write, events, log }: Context): Promise<void> {
  const configuration = {
    apiVersion: formatApiVersion(machineConfigs),
    kind: machineConfigs.kind,
    name: rendered.name,
    source: rendered.sources,
  };
  const isPointed = canonicalJson(pool.spec.configuration ?? {}) === canonicalJson(configuration);
  if (isPointed && pool.metadata.annotations?.[renderProblemsAnnotation] === undefined) return;
  await write.patch(machineConfigPools, pool, {
    metadata: { annotations: { [renderProblemsAnnotation]: null } },
    spec: { configuration },
  });
  if (pool.spec.configuration?.name === rendered.name) return;
  log.info({ rendered: rendered.name, bytes: rendered.bytes, from: rendered.sources.length }, 'rendered');
  events.record(machineConfigPools, pool, {
    type: 'Normal',
    reason: 'RenderedConfigGenerated',
    message: `${rendered.name} was generated from ${rendered.sources.length} MachineConfigs`,
  });
  for (const { code, message } of warnings) {
    const reason = code === 'SLW_RENDER_OS_IMAGE' ? 'OSImageURLOverridden' : 'RenderWarning';
    events.record(machineConfigPools, pool, { type: 'Normal', reason, message });
  }
}

/** One from before streams, or from before the stream had this name: its spec is the same, and so is its own name. */
async function annotateStream(
  existing: Stored<MachineConfig>,
  stream: string | null,
  { write }: Context,
): Promise<void> {
  if ((existing.metadata.annotations?.[osStreamAnnotation] ?? null) === stream) return;
  await write.patch(machineConfigs, existing, { metadata: { annotations: { [osStreamAnnotation]: stream } } });
}

async function createRendered(manifest: MachineConfig, { client, write, log }: Context): Promise<void> {
  if ((await write.createIfAbsent(machineConfigs, manifest)) !== undefined) return;
  // Our cache is behind, or it has lost the label by which we find it.
  const found = await client.get(machineConfigs, manifest.metadata);
  if (found.metadata.labels?.[poolLabel] === manifest.metadata.labels?.[poolLabel]) return;
  log.warn({ rendered: manifest.metadata.name }, 'a rendered MachineConfig had lost its labels; they are put back');
  const { labels, annotations } = manifest.metadata;
  await write.patch(machineConfigs, found, { metadata: { labels, annotations } });
}

async function putBack(pool: Pool, manifest: MachineConfig, { client, write, events }: Context): Promise<void> {
  const found = await client.get(machineConfigs, manifest.metadata);
  if (canonicalJson(found.spec ?? {}) === canonicalJson(manifest.spec ?? {})) return;
  await write.jsonPatch(machineConfigs, found, [{ op: 'add', path: '/spec', value: manifest.spec }]);
  events.record(machineConfigPools, pool, {
    type: 'Warning',
    reason: 'RenderedConfigRestored',
    message: `MachineConfig ${manifest.metadata.name} had been changed by hand and was put back; machines may have read it meanwhile`,
  });
}

// Which MachineConfigs a rendered config was made from, and at which state each was: for a pool's history.

/** All annotations of an object have 256 KiB together. */
const MAX_SOURCES_LENGTH = 64 * 1024;
const DIGEST_LENGTH = 16;

/** As it stands in the annotation; '' where there are too many to keep. The digest tells whether one changed, and nothing of what it says. */
function encodeRenderedFrom(machineConfigs: readonly MachineConfig[]): string {
  const from = machineConfigs.map(({ metadata, spec }): RenderedFrom => ({
    name: metadata.name,
    generation: metadata.generation ?? 0,
    digest: sha256(canonicalJson(spec ?? {})).slice(0, DIGEST_LENGTH),
  }));
  const text = JSON.stringify(from);
  return text.length > MAX_SOURCES_LENGTH ? '' : text;
}
