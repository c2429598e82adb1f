// The input of a pool's render: its MachineConfigs in order, each parsed once and cached until it changes.
import {
  type MachineConfig,
  type MachineConfigPool,
  machineConfigPools,
  machineConfigs,
  osStreamAnnotation,
  osStreamImagesAnnotation,
  renderProblemsAnnotation,
  secrets,
} from '@slipway/api';
import {
  type BuiltInMachineConfig,
  type CodedProblem,
  isAsShipped,
  isBuiltInNeeded,
  needsRemoteContent,
  type PreparedRender,
  prepareRender,
  type ReadInput,
  readMachineConfig,
  type RenderImages,
  selectMachineConfigs,
} from '@slipway/fleet';
import { indexName, loadSnapshot, type Snapshot, readSnapshotState } from '@slipway/fleet/remote-content';
import type { Client, Source, StoreReader, Stored } from '@slipway/kube';

/** Pools, for controllers that only depend on their MachineConfigs. They share a store. */
export const renderedPools: Source<MachineConfigPool> = { resource: machineConfigPools, project: keepRenderFields };

const keptAnnotations: ReadonlySet<string> = new Set([
  renderProblemsAnnotation,
  osStreamAnnotation,
  osStreamImagesAnnotation,
]);

/**
 * Drops the status of rollout and machines, which changes all the time: no render depends on it, and it would only
 * delay edits. The resourceVersion stays, because writes apply to the version that was read.
 */
function keepRenderFields({ metadata, spec }: Stored<MachineConfigPool>): Stored<MachineConfigPool> {
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

interface Ready {
  digest: string;
  result: Promise<ReadInput>;
}

/**
 * Keyed by the object: a changed MachineConfig is a new object, and the result for the old one is collected with it.
 */
export type ReadyConfigs = WeakMap<Stored<MachineConfig>, Ready>;

interface Sources {
  read: StoreReader;
  client: Client;
  namespace: string;
  signal: AbortSignal;
  ready: ReadyConfigs;
  /** The built-in MachineConfigs of this version. */
  builtIn: readonly BuiltInMachineConfig[];
  controllerVersion: string;
}

/** `images`: null if not known yet. */
export function prepare(
  pool: MachineConfigPool,
  images: RenderImages | null,
  sources: Sources,
): Promise<PreparedRender<Stored<MachineConfig>>> {
  return prepareRender(pool, {
    machineConfigs: sources.read(machineConfigs, { as: 'full' }).values(),
    read: (machineConfig) => makeReady(machineConfig, sources),
    missing: missingBase(pool, sources),
    images,
    controllerVersion: sources.controllerVersion,
  });
}

/** The pools that select a MachineConfig. */
export function poolsSelecting(machineConfig: MachineConfig, read: StoreReader): string[] {
  return [...read(machineConfigPools).values()]
    .filter((pool) => selectMachineConfigs(pool, [machineConfig]).length > 0)
    .map(({ metadata }) => metadata.name);
}

/**
 * Without its base, a pool would lose what its machines depend on, and a base that a user changed would reach all of
 * them: nothing is rendered until the base is as shipped.
 */
function missingBase(pool: MachineConfigPool, { read, builtIn }: Sources): string[] {
  const given = read(machineConfigs, { as: 'full' });
  const hasPool = (name: string): boolean => read(machineConfigPools).get(name) !== undefined;
  const isMissing = (shipped: BuiltInMachineConfig): boolean => {
    const found = given.get(shipped.metadata.name);
    return isBuiltInNeeded(shipped, hasPool, found) && (found === undefined || !isAsShipped(found, shipped));
  };
  return selectMachineConfigs(pool, builtIn)
    .filter(isMissing)
    .map(({ metadata }) => metadata.name);
}

async function makeReady(machineConfig: Stored<MachineConfig>, sources: Sources): Promise<ReadInput | 'waiting'> {
  if (!needsRemoteContent(machineConfig)) {
    return keep(sources.ready, machineConfig, '', () => readMachineConfig(machineConfig));
  }
  const { namespace } = sources;
  const index = sources.read(secrets).get(`${namespace}/${indexName(machineConfig.metadata.uid)}`);
  const state = readSnapshotState(machineConfig, index);
  switch (state.state) {
    case 'pending':
      return 'waiting';
    case 'failed':
      return { ok: false, problems: state.problems.map(({ code, message }) => ({ code, message })) };
    case 'lost':
      return { ok: false, problems: [lostProblem(machineConfig, state.message)] };
    case 'ready':
      return readWithSnapshot(machineConfig, state, sources);
  }
}

async function readWithSnapshot(
  machineConfig: Stored<MachineConfig>,
  snapshot: Snapshot,
  { ready, client, namespace, signal }: Sources,
): Promise<ReadInput> {
  const known = ready.get(machineConfig);
  if (known?.digest === snapshot.digest) return known.result;
  const loaded = await loadSnapshot(client, namespace, snapshot, signal);
  if (!loaded.ok) return { ok: false, problems: [lostProblem(machineConfig, loaded.message)] };
  return keep(ready, machineConfig, snapshot.digest, () => readMachineConfig(machineConfig, loaded.config));
}

const lostProblem = ({ metadata }: MachineConfig, message: string): CodedProblem => ({
  code: 'SLW_REMOTE_CONTENT_LOST',
  message: `MachineConfig ${metadata.name}: ${message}`,
});

function keep(
  ready: ReadyConfigs,
  machineConfig: Stored<MachineConfig>,
  digest: string,
  make: () => Promise<ReadInput>,
): Promise<ReadInput> {
  const known = ready.get(machineConfig);
  if (known?.digest === digest) return known.result;
  const result = make();
  const entry = { digest, result };
  ready.set(machineConfig, entry);
  // The next run tries again: kept, one failure would stop the pool until the MachineConfig changes.
  result.catch(() => {
    if (ready.get(machineConfig) === entry) ready.delete(machineConfig);
  });
  return result;
}
