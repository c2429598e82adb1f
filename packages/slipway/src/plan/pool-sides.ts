// A pool before and after manifests are applied, and which machines are in it.
import { targetConfigAnnotation } from '@slipway/api';
import type { MachineConfigPool, Node } from '@slipway/api';
import { type ChosenPool, type NodeFacts, nodeFactsOf, type PlannedConfig, poolOf } from '@slipway/fleet';
import { type CodedProblem } from '@slipway/fleet';
import type { FleetState, ReadConfigs } from './fleet-state.ts';
import { configNow, configThen, type PoolConfig } from './pool-config.ts';

export interface PoolSides {
  readonly name: string;
  /** Undefined: it is new. */
  readonly poolBefore: MachineConfigPool | undefined;
  /** As render would leave it. */
  readonly pool: MachineConfigPool;
  readonly before: PoolConfig;
  readonly after: PoolConfig;
  /** Its object is another than before. */
  readonly isChanged: boolean;
  /** What its machines were to have: a held target goes before the newest. */
  readonly targetBefore: string | null;
}

/** Every pool that there would be, by name. What is rendered on the way is added to `configs`. */
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
  /** The pool it was in; null: none. */
  readonly poolBefore: string | null;
}

export interface Placement {
  /** By pool. */
  readonly members: ReadonlyMap<string, readonly Member[]>;
  readonly problems: readonly CodedProblem[];
  readonly warnings: readonly string[];
}

/** A machine that would lose its pool is a problem; one that has none anyway is worth a word. */
export function placeNodes(nodes: readonly Node[], before: FleetState, after: FleetState): Placement {
  const members = new Map<string, Member[]>(after.pools.map(({ metadata }) => [metadata.name, []]));
  const problems: CodedProblem[] = [];
  const warnings: string[] = [];
  for (const node of nodes) {
    const was = poolOf(node.metadata, before.pools);
    const is = poolOf(node.metadata, after.pools);
    if (is.ok) members.get(is.pool)?.push({ facts: nodeFactsOf(node), poolBefore: nameOf(was) });
    else if (was.ok) problems.push({ code: is.code, message: is.message });
    else warnings.push(is.message);
  }
  for (const each of members.values()) each.sort((a, b) => (a.facts.name < b.facts.name ? -1 : 1));
  return { members, problems, warnings };
}

const nameOf = (chosen: ChosenPool): string | null => (chosen.ok ? chosen.pool : null);
