// A machine whose disk becomes full or read-only at each write of pinning in turn, and recovers later. Time is virtual.
import { makeSimulatedMachine } from '@slipway/simulator';
import { afterAll, describe, expect, it } from 'vitest';
import { DROP_IN } from '../host/cri/cri-o.ts';
import { type FileSystem, ownOwners, readText } from '../host/file-system.ts';
import { copyImage, type DiskImage, emptyImage } from '../host/testing/disk-image.ts';
import { createRefusingDisk } from '../host/testing/faults.ts';
import { createMemoryDisk } from '../host/testing/memory-disk.ts';
import type { DesiredSet } from './assigned-sets.ts';
import {
  assign,
  createPinWorld,
  findPinCondition,
  type PinMachine,
  type PinWorld,
  startPinMachine,
} from './testing/pin-machine.ts';
import { buildSet, formatSetsDropIn } from './testing/sample-sets.ts';

const MINUTE = 60_000;
const one = [buildSet('s', ['a', 'b'])];
const two = [buildSet('s', ['b', 'c'], 2), buildSet('t', ['d'])];

interface Scenario {
  readonly name: string;
  readonly before: readonly DesiredSet[];
  readonly after: readonly DesiredSet[];
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'the first sets', before: [], after: one },
  { name: 'other sets', before: one, after: two },
  { name: 'no sets any more', before: one, after: [] },
];

function setAssignment(world: PinWorld, sets: readonly DesiredSet[]): void {
  assign(world, sets);
  if (sets.length === 0) world.assignment = null;
}

async function settleAt(sets: readonly DesiredSet[]): Promise<{ image: DiskImage; world: PinWorld }> {
  const image = emptyImage(ownOwners());
  const files = createMemoryDisk(image);
  await makeSimulatedMachine(files);
  const world = createPinWorld();
  setAssignment(world, sets);
  if (sets.length > 0) await startPinMachine(files, world).settle();
  return { image, world };
}

/** The stand-in for CRI-O's storage keeps working: it is on another file system. */
async function liveFor(machine: PinMachine, world: PinWorld, ms: number): Promise<void> {
  for (const end = world.now + ms; world.now < end;) world.now += Math.min((await machine.step()) ?? MINUTE, MINUTE);
}

async function runWith(files: FileSystem, settled: PinWorld, after: readonly DesiredSet[]) {
  const world: PinWorld = { ...settled, sets: new Map(), node: { ...settled.node } };
  setAssignment(world, after);
  return { world, machine: startPinMachine(files, world) };
}

function expectDegraded(world: PinWorld, { at, code }: { at: number; code: string }): void {
  expect({ at, ...findPinCondition(world, 'Degraded') }).toMatchObject({
    at,
    status: 'True',
    message: expect.stringMatching(new RegExp(`SLW_DAEMON_DISK: .*${code}: .*retries automatically`)),
  });
}

/** Of all runs, printed at the end. In seconds of virtual time. */
const figures = { runs: 0, recovered: 0 };
afterAll(() => {
  const { runs, recovered } = figures;
  console.log(
    `a disk that fails at each of ${runs} writes of pinning: pinned within ${recovered} s after the disk; goal: 600 s`,
  );
});

describe.each(['ENOSPC', 'EROFS'] as const)('a disk that refuses the writes of pinning with %s for', (code) => {
  it.each(SCENARIOS)('$name is reported within a minute, and pinning recovers', async ({ before, after }) => {
    const settled = await settleAt(before);
    let refusedRuns = 0;
    for (let at = 0; ; at += 1) {
      const disk = createMemoryDisk(copyImage(settled.image));
      const { files, state } = createRefusingDisk(disk, { at, code });
      const { world, machine } = await runWith(files, settled.world, after);
      const began = world.now;
      while (state.refusals === 0 && world.now < began + 10 * MINUTE) await liveFor(machine, world, 1);
      if (state.refusals > 0) {
        refusedRuns += 1;
        await liveFor(machine, world, MINUTE);
        expectDegraded(world, { at, code });
        state.isRepaired = true;
        const repaired = world.now;
        const isOver = (): boolean => findPinCondition(world, 'Degraded')?.status === 'False';
        while (!isOver() && world.now < repaired + 10 * MINUTE) await liveFor(machine, world, 1);
        figures.runs += 1;
        figures.recovered = Math.max(figures.recovered, (world.now - repaired) / 1000);
        await liveFor(machine, world, 10 * MINUTE);
      }
      expect({ at, status: findPinCondition(world, 'Degraded')?.status }).toEqual({ at, status: 'False' });
      expect((await readText(disk, DROP_IN, 1_000_000)) ?? null).toBe(formatSetsDropIn(after));
      if (state.writes <= at) break;
    }
    expect(refusedRuns).toBeGreaterThan(0);
  });
});
