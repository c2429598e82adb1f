// The rendered config of a pool before and after manifests are applied.
import { type MachineConfigPool, type Node, targetConfigAnnotation } from '@slipway/api';
import { osImagesOfPool } from '../os-streams/pool-os-images.ts';
import { type ChosenPool, selectPool } from '../pool-membership.ts';
import { type CodedProblem, formatProblem } from '../problems.ts';
import { prepareRender } from '../render/prepare-render.ts';
import { renderPool } from '../render/render-pool.ts';
import { canonicalJson } from '../render/rendered-name.ts';
import { selectMachineConfigs } from '../render/select.ts';
import type { NodeFacts } from '../rollout/facts.ts';
import { readNodeFacts } from '../rollout/read-facts.ts';
import { type OSFacts, readOSFacts } from '../update/os-limits.ts';
import type { PlannedConfig } from '../update/plan-update.ts';
import type { Explainable } from './change-origins.ts';
import type { FleetState, ReadConfigs } from './fleet-plan.ts';

export interface PoolConfig {
  /** The newest rendered config; null: there is none. */
  readonly newest: string | null;
  /** The origin of everything in it; null: it was rendered from MachineConfigs that have changed since. */
  readonly explainable: Explainable | null;
  /** Why there is no newer one. */
  readonly problems: readonly CodedProblem[];
  readonly warnings: readonly string[];
}

const noConfig: PoolConfig = { newest: null, explainable: null, problems: [], warnings: [] };

/** The current config: the one the pool refers to, or for manifests that were never applied, what they render to. */
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

/** The future config. If no input changes, it stays the same. */
async function configThen(
  pool: MachineConfigPool,
  { before, after }: { before: FleetState; after: FleetState },
  now: PoolConfig,
  read: ReadConfigs,
): Promise<PoolConfig> {
  const poolBefore = before.pools.find(({ metadata }) => metadata.name === pool.metadata.name);
  if (poolBefore !== undefined && now.newest !== null && hasSameInputs(poolBefore, before, pool, after)) return now;
  const rendered = await renderConfig(pool, after, read);
  // The pool stays at its last good config.
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

/** The OS inputs of a render. */
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
    warnings: warnings.map(formatProblem),
  };
}

// A pool before and after manifests are applied, and its machines.

export interface PoolSides {
  readonly name: string;
  /** Undefined: it is new. */
  readonly poolBefore: MachineConfigPool | undefined;
  /** With the reference that render would write. */
  readonly pool: MachineConfigPool;
  readonly before: PoolConfig;
  readonly after: PoolConfig;
  /** Its object changes. */
  readonly isChanged: boolean;
  /** The previous target: a held one overrides the newest. */
  readonly targetBefore: string | null;
}

/** Every pool after the change, by name. Rendered configs are added to `configs`. */
export async function poolSides(
  sides: { before: FleetState; after: FleetState },
  read: ReadConfigs,
  configs: Map<string, PlannedConfig['spec']>,
): Promise<PoolSides[]> {
  const found: PoolSides[] = [];
  for (const pool of sides.after.pools) {
    const { name } = pool.metadata;
    const poolBefore = sides.before.pools.find(({ metadata }) => metadata.name === name);
    const before = await configNow(poolBefore, sides.before, read, configs);
    const after = await configThen(pool, sides, before, read);
    for (const { explainable } of [before, after]) {
      if (explainable !== null) configs.set(explainable.rendered.name, explainable.rendered.spec);
    }
    const targetBefore = poolBefore?.metadata.annotations?.[targetConfigAnnotation] ?? before.newest;
    const isChanged = pool !== poolBefore;
    found.push({ name, poolBefore, pool: pointedAt(pool, after.newest), before, after, isChanged, targetBefore });
  }
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function pointedAt(pool: MachineConfigPool, name: string | null): MachineConfigPool {
  if (name === null || pool.spec.configuration?.name === name) return pool;
  return { ...pool, spec: { ...pool.spec, configuration: { ...pool.spec.configuration, name } } };
}

export interface Member {
  readonly facts: NodeFacts;
  readonly os: OSFacts;
  /** The pool it was in; null: none. */
  readonly poolBefore: string | null;
}

export interface Placement {
  /** By pool. */
  readonly members: ReadonlyMap<string, readonly Member[]>;
  readonly problems: readonly CodedProblem[];
  readonly warnings: readonly string[];
}

/** A machine that would lose its pool is a problem; one that already has none is a warning. */
export function placeNodes(nodes: readonly Node[], before: FleetState, after: FleetState): Placement {
  const members = new Map<string, Member[]>(after.pools.map(({ metadata }) => [metadata.name, []]));
  const problems: CodedProblem[] = [];
  const warnings: string[] = [];
  for (const node of nodes) {
    const was = selectPool(node.metadata, before.pools);
    const is = selectPool(node.metadata, after.pools);
    if (is.ok)
      members.get(is.pool)?.push({ facts: readNodeFacts(node), os: readOSFacts(node), poolBefore: nameOf(was) });
    else if (was.ok) problems.push({ code: is.code, message: is.message });
    else warnings.push(is.message);
  }
  for (const each of members.values()) each.sort((a, b) => (a.facts.name < b.facts.name ? -1 : 1));
  return { members, problems, warnings };
}

const nameOf = (chosen: ChosenPool): string | null => (chosen.ok ? chosen.pool : null);
