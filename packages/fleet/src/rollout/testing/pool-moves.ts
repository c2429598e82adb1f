// Pools that are created empty, lose machines and get machines of other pools, while broken configs are rendered in any
// order: how many machines each broken config touches.
import { createRandom, type Random } from '@slipway/testing/random';
import { expect } from 'vitest';
import { decidePool } from '../decide-fleet.ts';
import type { NodeFacts, PoolFacts, RolloutDecision } from '../facts.ts';
import { isFailing } from '../node-state.ts';
import { defaultRolloutPolicy } from '../policy.ts';
import { computePoolStatus } from '../pool-status.ts';
import { readReason } from '../read-facts.ts';
import { MINUTE, NOW, sampleNode, samplePool } from './sample.ts';

const MACHINES = 8;
const EVENTS = 25;
/** A config is rolled out in fewer: two steps a machine, one machine after another. */
const ROUNDS_TO_CONVERGE = 60;
const POOLS = ['worker', 'edge', 'infra'] as const;
type PoolName = (typeof POOLS)[number];

interface Machine {
  readonly pool: PoolName;
  readonly facts: NodeFacts;
}

const isBroken = (config: string | null): boolean => config?.includes('-broken') === true;

/** As the API would hold them: pools, and machines by name. */
class Fleet {
  now = NOW;
  readonly pools = new Map<PoolName, PoolFacts>();
  readonly machines = new Map<string, Machine>();
  /** The machines that each broken config was ever assigned to. */
  readonly touched = new Map<string, Set<string>>();
  private readonly random: Random;
  private rendered = 0;

  constructor(random: Random) {
    this.random = random;
  }

  createPool(name: PoolName): void {
    const { random } = this;
    this.pools.set(
      name,
      samplePool({
        name,
        newest: null,
        proven: null,
        maxUnavailable: random.pick([1, 3, '50%', '100%']),
        policy: {
          ...defaultRolloutPolicy,
          onFailure: random.pick(['halt', 'return']),
          soakMs: random.pick([0, 0, 3 * MINUTE]),
        },
      }),
    );
  }

  render(name: PoolName, quality: 'good' | 'broken'): void {
    const pool = this.pools.get(name);
    this.rendered += 1;
    if (pool !== undefined) this.pools.set(name, { ...pool, newest: `rendered-${name}-${quality}${this.rendered}` });
  }

  /** With an old config, as after a long time without power: one that boots with the newest needs no update. */
  addMachine(name: string): void {
    const config = 'rendered-worker-first';
    const facts = sampleNode(name, { current: config, desired: config, reportedConfig: config });
    this.machines.set(name, { pool: 'worker', facts });
  }

  label(name: string, pool: PoolName): void {
    const machine = this.machines.get(name);
    if (machine !== undefined) this.machines.set(name, { ...machine, pool });
  }

  /** Each updating machine goes on, then the controller decides every pool. */
  round(): void {
    this.now += MINUTE;
    for (const [name, { pool, facts }] of this.machines) {
      if (!isAtRest(facts)) this.machines.set(name, { pool, facts: advance(facts) });
    }
    for (const name of this.random.chance(0.5) ? POOLS : POOLS.toReversed()) this.decide(name);
  }

  private decide(name: PoolName): void {
    const before = this.pools.get(name);
    if (before === undefined) return;
    const members = new Map(POOLS.map((each) => [each, this.membersOf(each)]));
    const decision = decidePool({ now: this.now, pool: before, members, stopped: null, ownNode: null });
    this.assign(decision);
    const pool = { ...before, state: decision.state, held: decision.held };
    const { configuration } = computePoolStatus({
      generation: 1,
      decision,
      pool,
      nodes: this.membersOf(name),
      renderProblem: null,
      source: pool.newest === null ? undefined : { name: pool.newest },
      previous: pool.proven === null ? undefined : { name: pool.proven },
    });
    this.pools.set(name, { ...pool, proven: configuration?.name ?? null });
  }

  private assign({ give }: RolloutDecision): void {
    for (const { node, config, why } of give) {
      const machine = this.machines.get(node);
      if (machine === undefined) continue;
      const facts = { ...machine.facts, desired: config, givenAt: this.now, ...readReason(why) };
      this.machines.set(node, { ...machine, facts });
      if (isBroken(config)) this.touched.set(config, new Set([...(this.touched.get(config) ?? []), node]));
    }
  }

  membersOf(name: PoolName): NodeFacts[] {
    return [...this.machines.values()].filter(({ pool }) => pool === name).map(({ facts }) => facts);
  }

  /** If a machine is moved while it tries a config, how it would have ended stays unknown. */
  atRest(): string[] {
    return [...this.machines].filter(([, { facts }]) => isAtRest(facts)).map(([name]) => name);
  }
}

const isAtRest = (facts: NodeFacts): boolean =>
  facts.reportedConfig === facts.desired && (isFailing(facts) || facts.current === facts.desired);

/** What the daemon reports first, and then. */
function advance(facts: NodeFacts): NodeFacts {
  const { desired } = facts;
  if (facts.state !== 'Working') return { ...facts, state: 'Working', reason: '', reportedConfig: null };
  if (!isBroken(desired)) return { ...facts, state: 'Done', current: desired, reportedConfig: desired };
  return { ...facts, state: 'Degraded', reason: `${desired} cannot be applied`, reportedConfig: desired };
}

/** One thing that a user or a machine autoscaler does. */
function happen(fleet: Fleet, random: Random, step: number): void {
  const pool = random.pick(POOLS);
  const resting = fleet.atRest();
  const some = resting.filter(() => random.chance(0.6));
  switch (random.int(0, 6)) {
    case 0:
    case 1:
      if (fleet.pools.has(pool)) fleet.render(pool, random.pick(['good', 'broken', 'broken']));
      else fleet.createPool(pool);
      return;
    case 2:
    case 3:
      for (const name of some) fleet.label(name, pool);
      return;
    case 4:
      for (const name of resting) fleet.label(name, pool);
      return;
    case 5:
      for (const name of resting.filter((each) => fleet.machines.get(each)?.pool === pool)) fleet.machines.delete(name);
      return;
    default:
      for (let each = 0; each < 3; each += 1) fleet.addMachine(`joined-${step}-${each}`);
  }
}

function run(seed: number): void {
  const random = createRandom(seed);
  const fleet = new Fleet(random);
  fleet.createPool('worker');
  fleet.render('worker', 'good');
  for (let each = 0; each < MACHINES; each += 1) fleet.addMachine(`machine-${each}`);
  for (let step = 0; step < EVENTS; step += 1) {
    for (let round = random.int(0, 6); round > 0; round -= 1) fleet.round();
    happen(fleet, random, step);
    const many = [...fleet.touched].filter(([, machines]) => machines.size > 1);
    expect(many, `seed ${seed}, step ${step}`).toEqual([]);
  }
  for (const name of fleet.pools.keys()) fleet.render(name, 'good');
  for (let round = 0; round < ROUNDS_TO_CONVERGE; round += 1) fleet.round();
  for (const [name, pool] of fleet.pools) {
    const others = fleet.membersOf(name).filter(({ current, state }) => current !== pool.newest || state !== 'Done');
    expect(others, `seed ${seed}: machines of pool ${name} without its newest config`).toEqual([]);
  }
}

/** Each broken config touches one machine, and the next good one reaches every machine. */
export function expectOneTouched(seeds: readonly number[]): void {
  for (const seed of seeds) run(seed);
}

export const listSeeds = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
