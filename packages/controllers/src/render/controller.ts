// Merges the MachineConfigs of a pool into one rendered config, stores it, and points the pool at it.
import {
  generatedByAnnotation,
  inUseLabel,
  type MachineConfig,
  type MachineConfigPool,
  machineConfigPools,
  machineConfigs,
  osStreamAnnotation,
  poolLabel,
  renderProblemsAnnotation,
  secrets,
  sourcesAnnotation,
} from '@slipway/api';
import { sha256 } from '@slipway/base/hash';
import { count } from '@slipway/base/text';
import {
  builtInMachineConfigs,
  canonicalJson,
  type CodedProblem,
  encodeProblems,
  formatProblems,
  type RenderedFrom,
  renderPool,
  type RenderResult,
  selectsAll,
} from '@slipway/fleet';
import { indexAnnotations, REMOTE_CONTENT_LABEL } from '@slipway/fleet/remote-content';
import { again, formatApiVersion, type Context, type ControllerDef, done, type Next, type Stored } from '@slipway/kube';
import { OS_STREAMS_GATE, usesStreams } from '../feature-gates.ts';
import { type PoolOsOptions, resolvePoolOs, poolOsSources } from '../pool-os.ts';
import { everyPool, sourceMachineConfigs, osImagesSource, renderedMachineConfigs } from '../sources.ts';
import { poolsSelecting, prepare, type ReadyConfigs, renderedPools } from './gather.ts';
import { isIntact } from './intact.ts';
import { renderedConfigsController, type RetentionOptions } from './rendered-configs-controller.ts';
import { renderedCopiesController } from './rendered-copies-controller.ts';
import { unselectedController } from './unselected-controller.ts';

/** The namespace is also that of the snapshots. With the gate OSStreams on, a pool has the OS of its stream. */
export interface RenderOptions extends PoolOsOptions {
  readonly controllerVersion: string;
  /** As for the built-in MachineConfigs. */
  readonly daemonImage?: string | undefined;
}

type Pool = Stored<MachineConfigPool>;
type Rendered = Extract<RenderResult, { ok: true }>;

/**
 * A burst of a hundred edits must produce one rendered config, not a hundred that are stored, perhaps rolled out, and
 * garbage-collected. Short enough that a single edit is not delayed noticeably, long enough to collect a burst.
 */
const SETTLE_MS = 250;
/** When to check a rendered config again that is being deleted while its pool needs it. */
const DELETED_REQUEUE_MS = 1000;

/** Renders, deletes what is no longer used, restores what is in use, and reports what no pool uses. */
export const renderControllers = (options: RenderOptions & RetentionOptions): ControllerDef[] => [
  renderController(options),
  renderedConfigsController(options),
  renderedCopiesController(options),
  unselectedController(),
];

/** Merges the MachineConfigs of each pool into one static config and points the pool at it. */
export function renderController(options: RenderOptions): ControllerDef {
  const { namespace } = options;
  const ready: ReadyConfigs = new WeakMap();
  const builtIn = builtInMachineConfigs(options);
  return {
    name: 'render',
    reads: [
      renderedPools,
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
    // No delay for a pool without a config: its new machines wait for it.
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
        // The missing object triggers the next reconcile when it arrives.
        log.info({ waiting }, 'waiting for MachineConfigs that are being created or fetched');
        return done();
      }
      if (request === null) {
        log.info({}, 'waiting for the OS image stream of the pool');
        return done();
      }
      const result = await renderPool(request);
      if (!result.ok) return reportProblems(pool, result.problems, context);
      return applyRendered(pool, prepared.selected, result, options, context);
    },
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
  log.warn({ problems }, 'cannot render the MachineConfigs of the pool; the pool keeps its last good config');
  const reason = selectsAll(pool) ? 'SelectingAll' : 'RenderFailed';
  events.record(machineConfigPools, pool, { type: 'Warning', reason, message });
  return done();
}

/** Writes the rendered config before the pool that references it: a pool never names a config that does not exist. */
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
  else if (!(await isIntact(existing, context.client))) await putBack(pool, manifest, context);
  if (existing !== undefined && usesStreams(gates)) await annotateStream(existing, rendered.osStream, context);

  await pointAt(pool, result, context);
  return done();
}

/** One write for both, so that a pool never shows a problem together with the config that resolves it. */
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
    message: `Slipway rendered ${rendered.name} from ${count(rendered.sources.length, 'MachineConfig')}`,
  });
  for (const { code, message } of warnings) {
    const reason = code === 'SLW_RENDER_OS_IMAGE' ? 'OSImageURLOverridden' : 'RenderWarning';
    events.record(machineConfigPools, pool, { type: 'Normal', reason, message });
  }
}

/** For a config older than streams, or than this name of the stream: its spec and its name are the same. */
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
  // The cache is stale, or the config lost the label that our watch selects by.
  const found = await client.get(machineConfigs, manifest.metadata);
  if (found.metadata.labels?.[poolLabel] === manifest.metadata.labels?.[poolLabel]) return;
  log.warn({ rendered: manifest.metadata.name }, 'a rendered MachineConfig had lost its labels; restoring them');
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
    message: `MachineConfig ${manifest.metadata.name}: a user changed this rendered config, and Slipway restored it. Machines may have read it in between`,
  });
}

// The MachineConfigs that a rendered config was merged from, and the state of each: for a pool's history.

/** The annotations of an object are limited to 256 KiB together. */
const MAX_SOURCES_LENGTH = 64 * 1024;
const DIGEST_LENGTH = 16;

/** The annotation's value; '' if there are too many to store. The digest shows whether one changed, not its content. */
function encodeRenderedFrom(machineConfigs: readonly MachineConfig[]): string {
  const from = machineConfigs.map(({ metadata, spec }): RenderedFrom => ({
    name: metadata.name,
    generation: metadata.generation ?? 0,
    digest: sha256(canonicalJson(spec ?? {})).slice(0, DIGEST_LENGTH),
  }));
  const text = JSON.stringify(from);
  return text.length > MAX_SOURCES_LENGTH ? '' : text;
}
