// Many machines pull many images: what that costs the API server, and whether the pool tells the truth about it all the while.
import { machineConfigNodes, machineConfigPools, pinnedImageSets, ROLE_LABEL } from '@slipway/api';
import { maxPullingAnnotation } from '@slipway/api/names';
import { parsePinProgress } from '@slipway/fleet';
import { until } from '@slipway/testing/wait';
import { expect } from 'vitest';
import type { PinFleet } from './pin-fleet.ts';
import { type PinHistory, type Reading, watchPins } from './pin-history.ts';
import { type PinWrites, pinWritesBetween } from './pin-writes.ts';

const IMAGES = 50;
const BROKEN = 5;
const SET = 'release';
export const WITHIN_MS = 480_000;
const BOUND = { withinMs: WITHIN_MS, everyMs: 250 };

const formatImage = (index: number): string =>
  `registry.example.com/release/part@sha256:${(index + 1).toString(16).padStart(64, '0')}`;
const images = Array.from({ length: IMAGES }, (_, index) => formatImage(index));
const UNKNOWN = formatImage(7);

/**
 * The bound, for each node and each change of its sets, however many images there are. Its daemon writes its status once when it
 * begins and once when it is through; at most ten times on the way, and never two of these within 10 s; once in two minutes; and
 * once for each thing that goes wrong and once when that is over. The controllers write once what it is to do, and once that it may.
 */
const computeMaxDaemonWrites = (seconds: number, problems: number): number =>
  2 + Math.min(10, Math.floor(seconds / 10)) + Math.floor(seconds / 120) + 2 * problems;
/** The sets, and the slot after the first machine has them. */
const MAX_CONTROLLER_WRITES = 2;
/** Each of the two that write to a pool, its summary and its status, does so once a second, and at once when a condition turns. */
const computeMaxPoolWrites = (seconds: number, turns: number): number => 2 * (Math.ceil(seconds) + 1 + turns);

const pinned = (names: readonly string[]) => ({ spec: { pinnedImages: names.map((name) => ({ name })) } });
/** Before any set, each machine is told once that there is none, and answers how much room it has. */
const untilFreeSpaceIsReported = (fleet: PinFleet) =>
  until(async () => {
    let told = 0;
    for await (const { status } of fleet.client.list(machineConfigNodes)) {
      const progress = status?.conditions?.find(({ type }) => type === 'PinnedImageSetsProgressing');
      if (parsePinProgress(progress?.message ?? '')?.store) told += 1;
    }
    expect(told).toBe(fleet.names.length);
  }, BOUND);
const untilPool = (fleet: PinFleet, updated: number, unavailable: number) =>
  until(async () => {
    const { status } = await fleet.client.get(machineConfigPools, { name: 'worker' });
    expect(status?.poolSynchronizersStatus).toMatchObject([
      { machineCount: fleet.names.length, updatedMachineCount: updated, unavailableMachineCount: unavailable },
    ]);
    return status;
  }, BOUND);

interface Measured {
  readonly seconds: number;
  readonly writes: PinWrites;
}

/** What was done, with the requests of `act`, until it is over. */
async function measured(fleet: PinFleet, act: () => Promise<void>): Promise<Measured> {
  const from = new Date();
  await act();
  const to = new Date();
  return {
    seconds: (to.getTime() - from.getTime()) / 1000,
    writes: await pinWritesBetween(fleet.auditLog, from, to),
  };
}

const findMax = (counts: ReadonlyMap<string, number>, names: readonly string[]): number =>
  Math.max(...names.map((name) => counts.get(name) ?? 0));
const sumCounts = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, count) => sum + count, 0);

function printResult(what: string, { seconds, writes }: Measured, names: readonly string[], readings: number): void {
  const { byDaemons, byControllers, ofPools, readsOfSets, conflicts } = writes;
  const each = (counts: ReadonlyMap<string, number>): string => (sumCounts(counts) / names.length).toFixed(2);
  console.log(
    `${what}: ${seconds.toFixed(1)} s; writes for each node: ${each(byDaemons)} by its daemon (at most ${findMax(byDaemons, names)}), ` +
      `${each(byControllers)} by controllers (at most ${findMax(byControllers, names)}); ${sumCounts(ofPools)} of pools, ` +
      `${each(readsOfSets)} reads of sets for each node, ${sumCounts(conflicts)} conflicts; ${readings} readings of the pool`,
  );
}

/** Where a pool starts anew with another generation, it may fall once. */
function falls(readings: readonly Reading[]): number {
  return readings.filter(({ updated }, index) => updated < (readings[index - 1]?.updated ?? 0)).length;
}

/** On a fleet that has pinned nothing yet. */
export async function expectBoundedWrites(fleet: PinFleet): Promise<void> {
  await untilFreeSpaceIsReported(fleet);
  // The most writes within the shortest time: after the first machine, all pull concurrently.
  const annotations = { [maxPullingAnnotation]: '100%' };
  await fleet.client.patch(
    machineConfigPools,
    { name: 'worker' },
    { type: 'merge', body: { metadata: { annotations } } },
    {},
  );
  const history = await watchPins(fleet.client, { pool: 'worker', set: SET, generations: [1, 2] });
  try {
    await pullAndChange(fleet, history);
  } finally {
    history.stop();
  }
}

async function pullAndChange(fleet: PinFleet, history: PinHistory): Promise<void> {
  const machineCount = fleet.names.length;
  const { client, names } = fleet;
  const broken = names.slice(-BROKEN);
  for (const name of broken) await fleet.behave(name, { refused: { [UNKNOWN]: 'manifest unknown' } });

  const first = await measured(fleet, async () => {
    const metadata = { name: SET, labels: { [ROLE_LABEL]: 'worker' } };
    await client.create(pinnedImageSets, { metadata, ...pinned(images) });
    const status = await untilPool(fleet, machineCount - BROKEN, BROKEN);
    const said = status?.conditions?.find(({ type }) => type === 'PinnedImageSetsDegraded');
    expect(said).toMatchObject({ status: 'True', reason: 'PrefetchFailed' });
    for (const name of broken) expect(said?.message).toContain(`Node ${name} is reporting`);
    expect(said?.message).toContain(UNKNOWN);
  });
  printResult('pulled', first, names, history.readings.length);
  expect(falls(history.readings)).toBe(0);

  const before = history.readings.length;
  const second = await measured(fleet, async () => {
    for (const name of broken) await fleet.behave(name, {});
    await client.patch(pinnedImageSets, { name: SET }, { type: 'merge', body: pinned(images.slice(1)) }, {});
    await untilPool(fleet, machineCount, 0);
  });
  printResult('set changed', second, names, history.readings.length);
  expect(falls(history.readings.slice(before - 1))).toBeLessThanOrEqual(1);

  for (const { seconds, writes } of [first, second]) {
    const well = names.filter((name) => !broken.includes(name));
    expect(findMax(writes.byDaemons, well)).toBeLessThanOrEqual(computeMaxDaemonWrites(seconds, 0));
    expect(findMax(writes.byDaemons, broken)).toBeLessThanOrEqual(computeMaxDaemonWrites(seconds, 1));
    expect(findMax(writes.byControllers, names)).toBeLessThanOrEqual(MAX_CONTROLLER_WRITES);
    // A daemon may report while its slot is being written: each write of a controller meets that at most once.
    expect(findMax(writes.conflicts, names)).toBeLessThanOrEqual(MAX_CONTROLLER_WRITES);
    expect(writes.ofPools.get('worker')).toBeLessThanOrEqual(computeMaxPoolWrites(seconds, 4));
  }
  // Every one of what the pool said adds up, and was so at some moment.
  expect(history.readings.length).toBeGreaterThan(5);
  for (const { machines, updated, ready, available, unavailable } of history.readings) {
    expect(machines).toBe(machineCount);
    expect(updated + unavailable).toBeLessThanOrEqual(machines);
    expect(available).toBe(machines - unavailable);
    expect(ready).toBe(updated);
  }
  expect(history.readings.filter(({ updated, unavailable }) => !history.wasSo(updated, unavailable))).toEqual([]);
}
