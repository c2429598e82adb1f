import { bootSimulatedMachine, makeSimulatedMachine, readImages } from '@slipway/simulator';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { DROP_IN } from '../host/cri/cri-o.ts';
import { type FileSystem, ownOwners, readText } from '../host/file-system.ts';
import { copyImage, type DiskImage, emptyImage } from '../host/testing/disk-image.ts';
import { createFaultyDisk, type Fault } from '../host/testing/faults.ts';
import { createMemoryDisk } from '../host/testing/memory-disk.ts';
import type { DesiredSet } from './assigned-sets.ts';
import { isComplete } from './decisions.ts';
import { readPinMemory } from './pinned-state.ts';
import { assign, findPinCondition, createPinWorld, type PinWorld, startPinMachine } from './testing/pin-machine.ts';
import { formatSetsDropIn, buildSet } from './testing/sample-sets.ts';

const before = [buildSet('s', ['a', 'b'], 1), buildSet('u', ['f'])];
const after = [buildSet('s', ['b', 'c', 'd'], 2), buildSet('t', ['d', 'e'])];
const never = new AbortController().signal;

/** A machine that has pinned `before`. */
async function pinnedMachine(): Promise<{ image: DiskImage; world: PinWorld }> {
  const image = emptyImage(ownOwners());
  const files = createMemoryDisk(image);
  await makeSimulatedMachine(files);
  const world = createPinWorld();
  assign(world, before);
  await startPinMachine(files, world).settle();
  return { image, world };
}

const changes = [
  { name: 'other sets', wanted: after, change: (world: PinWorld) => assign(world, after) },
  { name: 'no set', wanted: [], change: (world: PinWorld) => assign(world, []) },
  {
    name: 'those of a node without an assignment',
    wanted: [],
    change(world: PinWorld) {
      world.assignment = null;
    },
  },
];

const faults: { name: string; fault: Fault; atLeast: number }[] = [
  { name: 'before the call', fault: { kind: 'stop', when: 'before' }, atLeast: 5 },
  { name: 'half way', fault: { kind: 'stop', when: 'half way' }, atLeast: 1 },
  { name: 'after the call', fault: { kind: 'stop', when: 'after' }, atLeast: 5 },
];

const named = (text: string | undefined): string[] => {
  if (text === undefined) return [];
  const { crio } = parse(text) as { crio: { image: { pinned_images: string[] } } };
  return crio.image.pinned_images;
};

/** The invariant at any moment: CRI-O pins exactly the images of complete sets. */
async function judge(files: FileSystem, wanted: readonly DesiredSet[]): Promise<void> {
  const text = await readText(files, DROP_IN, 1_000_000);
  const present = new Set(await readImages(files));
  const possible = [...before, ...wanted].filter((set) => isComplete(set, present));
  const pins = new Set(named(text));
  const whole = possible.filter(({ images }) => images.every((image) => pins.has(image)));
  expect([...pins].filter((pin) => !whole.some(({ images }) => images.includes(pin)))).toEqual([]);
  // A desired set keeps its pins until the next generation is present.
  for (const old of before.filter(({ name }) => wanted.some((set) => set.name === name))) {
    expect(whole.some(({ name }) => name === old.name)).toBe(true);
  }
  expect(await readPinMemory(files)).toSatisfy((memory: unknown) => memory !== null || wanted.length === 0);
}

interface Killing {
  readonly image: DiskImage;
  readonly world: PinWorld;
  readonly wanted: readonly DesiredSet[];
  readonly fault: Fault;
  readonly at: number;
}

/** False: it was complete before. */
async function killAndGoOn({ image, world, wanted, fault, at }: Killing): Promise<boolean> {
  const disk = createMemoryDisk(copyImage(image));
  const faulty = createFaultyDisk(disk, { at, of: 'changes', fault });
  await Promise.race([startPinMachine(faulty.files, world).settle(), faulty.stopped]);
  if (faulty.hit() === undefined) return false;
  await judge(disk, wanted);

  // Every third time the whole machine goes down too.
  if (at % 3 === 2) await bootSimulatedMachine(disk, 'power cut');
  const machine = startPinMachine(disk, world);
  await machine.settle();
  await judge(disk, wanted);
  expect((await readText(disk, DROP_IN, 1_000_000)) ?? null).toBe(formatSetsDropIn(wanted));
  const pinned = (await machine.host.containers.images(never)).filter(({ isPinned }) => isPinned);
  const all = new Set(wanted.flatMap(({ images }) => images));
  expect(new Set(pinned.flatMap(({ digests }) => digests))).toEqual(all);
  expect(findPinCondition(world, 'Progressing')?.status).toBe('False');
  expect(world.status.pinnedImageSets ?? []).toEqual(
    wanted.map(({ name, generation }) => ({ name, desiredGeneration: generation, currentGeneration: generation })),
  );
  return true;
}

describe.each(changes)('a daemon that is killed while it changes its pins to $name', ({ change, wanted }) => {
  it.each(faults)('$name, at any change of the disk, continues where it was', async ({ fault, atLeast }) => {
    const { image, world } = await pinnedMachine();
    let at = 0;
    for (; ; at += 1) {
      const own: PinWorld = { ...world, sets: new Map(world.sets) };
      change(own);
      if (!(await killAndGoOn({ image, world: own, wanted, fault, at }))) break;
    }
    expect(at).toBeGreaterThan(atLeast);
  });
});
