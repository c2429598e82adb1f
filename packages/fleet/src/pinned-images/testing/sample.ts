// Pools and machines for the tests of this folder.
import type { AssignedSet, PinAssignment } from '../assignment.ts';
import type { PinNode, PinPool, ReportedSet } from '../pin-facts.ts';

export const sampleSet = (name: string, generation = 1, uid = `uid-of-${name}`): AssignedSet => ({
  name,
  uid,
  generation,
});

export const samplePinPool = (name: string, sets: readonly AssignedSet[], more: Partial<PinPool> = {}): PinPool => ({
  name,
  generation: 7,
  isControlPlane: false,
  sets,
  missing: [],
  maxPulling: undefined,
  ...more,
});

/** A worker without an assignment. */
export const samplePinNode = (name: string, more: Partial<PinNode> = {}): PinNode => ({
  name,
  pools: ['worker'],
  isReady: true,
  told: null,
  reported: new Map(),
  failure: null,
  failingSince: null,
  ...more,
});

export const sampleTold = (sets: readonly AssignedSet[], more: Partial<PinAssignment> = {}): PinAssignment => ({
  sets,
  mayPull: true,
  parallel: 5,
  ...more,
});

export const sampleReport = (
  sets: Readonly<Record<string, number | null>>,
  ...failing: string[]
): ReadonlyMap<string, ReportedSet> =>
  new Map(Object.entries(sets).map(([name, current]) => [name, { current, isFailing: failing.includes(name) }]));

export const byName = (...pools: readonly PinPool[]): ReadonlyMap<string, PinPool> =>
  new Map(pools.map((pool) => [pool.name, pool]));
