// What render makes of a pool's MachineConfigs, before and after manifests are applied.
import type { MachineConfigPool } from '@slipway/api';
import { osImagesOfPool } from '../os-streams/pool-os-images.ts';
import type { CodedProblem } from '../problem-list.ts';
import { canonicalJson } from '../render/canonical-json.ts';
import { prepareRender } from '../render/prepare-render.ts';
import { renderPool } from '../render/render-pool.ts';
import { selectMachineConfigs } from '../render/select.ts';
import type { PlannedConfig } from '../update/plan-update.ts';
import type { Explainable } from './change-origins.ts';
import type { FleetState, ReadConfigs } from './fleet-state.ts';

export interface PoolConfig {
  /** The newest rendered config; null: there is none. */
  readonly newest: string | null;
  /** Where everything in it comes from; null: it was made from other MachineConfigs than there are. */
  readonly explainable: Explainable | null;
  /** Why there is no newer one. */
  readonly problems: readonly CodedProblem[];
  readonly warnings: readonly string[];
}

const noConfig: PoolConfig = { newest: null, explainable: null, problems: [], warnings: [] };

/** As it is: what the pool points at, or for manifests that never were in a cluster, what they render to. */
export async function configNow(
  pool: MachineConfigPool | undefined,
  state: FleetState,
  read: ReadConfigs,
  known: ReadonlyMap<string, PlannedConfig['spec']>,
): Promise<PoolConfig> {
  if (pool === undefined) return noConfig;
  const rendered = await renderConfig(pool, state, read);
  const pointed = pool.spec.configuration?.name;
  if (pointed === undefined || (!known.has(pointed) && rendered.newest !== null)) return rendered;
  const isIt = rendered.newest === pointed;
  return { newest: pointed, explainable: isIt ? rendered.explainable : null, problems: [], warnings: [] };
}

/** As it would be. Where nothing that goes into it changes, it stays what it is. */
export async function configThen(
  pool: MachineConfigPool,
  { before, after }: { before: FleetState; after: FleetState },
  now: PoolConfig,
  read: ReadConfigs,
): Promise<PoolConfig> {
  const poolBefore = before.pools.find(({ metadata }) => metadata.name === pool.metadata.name);
  if (poolBefore !== undefined && now.newest !== null && hasSameInputs(poolBefore, before, pool, after)) return now;
  const rendered = await renderConfig(pool, after, read);
  // The pool keeps its last good config.
  return rendered.newest === null ? { ...now, problems: rendered.problems } : rendered;
}

function hasSameInputs(
  poolBefore: MachineConfigPool,
  before: FleetState,
  poolAfter: MachineConfigPool,
  after: FleetState,
): boolean {
  const [was, is] = [
    selectMachineConfigs(poolBefore, before.machineConfigs),
    selectMachineConfigs(poolAfter, after.machineConfigs),
  ];
  const hasSameImages = canonicalJson(imagesFor(poolBefore, before)) === canonicalJson(imagesFor(poolAfter, after));
  return hasSameImages && was.length === is.length && was.every((each, index) => each === is[index]);
}

/** All of it that goes into a render. */
function imagesFor(pool: MachineConfigPool, state: FleetState): unknown {
  const { osImages, osStream, problems } = osImagesOfPool(pool, state);
  return { osImages, osStream, problems };
}

async function renderConfig(pool: MachineConfigPool, state: FleetState, read: ReadConfigs): Promise<PoolConfig> {
  const { request, problems } = await prepareRender(pool, {
    machineConfigs: state.machineConfigs,
    read: (each) => read.get(each) ?? 'waiting',
    images: osImagesOfPool(pool, state),
    controllerVersion: state.controllerVersion,
  });
  if (request === null) return { ...noConfig, problems };
  const result = await renderPool(request);
  if (!result.ok) return { ...noConfig, problems: result.problems };
  const { rendered, provenance, warnings } = result;
  return {
    newest: rendered.name,
    explainable: { rendered, provenance },
    problems: [],
    warnings: warnings.map(({ message }) => message),
  };
}
