import { KubeError } from '@slipway/kube';
import { makeSimulatedMachine, readImages, setRuntimeBehaviour, writeImages } from '@slipway/simulator';
import { printRecovery } from '@slipway/testing/wait';
import { beforeEach, describe, expect, it } from 'vitest';
import { DROP_IN } from '../host/cri/cri-o.ts';
import { type FileSystem, ownOwners, readText } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';
import { emptyImage } from '../host/testing/disk-image.ts';
import { createMemoryDisk } from '../host/testing/memory-disk.ts';
import { assign, findPinCondition, createPinWorld, type PinWorld, startPinMachine } from './testing/pin-machine.ts';
import { formatSetsDropIn, buildImageName, buildSet } from './testing/sample-sets.ts';

const never = new AbortController().signal;
let files: FileSystem;
let world: PinWorld;

beforeEach(async () => {
  files = createMemoryDisk(emptyImage(ownOwners()));
  await makeSimulatedMachine(files);
  world = createPinWorld();
});

const behave = (behaviour: Parameters<typeof setRuntimeBehaviour>[1]) => setRuntimeBehaviour(files, behaviour);
const dropIn = () => readText(files, DROP_IN, 1_000_000);
const images = (...words: string[]) => words.map(buildImageName).toSorted();

describe('a node that was never assigned a set', () => {
  it('reports its free space once, and does not touch its container runtime', async () => {
    await behave({ isDown: true });
    assign(world, []);
    const machine = startPinMachine(files, world);
    await machine.settle();
    expect(findPinCondition(world, 'Progressing')).toMatchObject({
      status: 'False',
      message: expect.stringContaining('free'),
    });
    expect(findPinCondition(world, 'Degraded')).toMatchObject({ status: 'False' });
    expect({ writes: world.writes, pins: machine.pins() }).toEqual({ writes: 1, pins: 0 });

    world.assignment = null;
    await machine.settle();
    expect(findPinCondition(world, 'Progressing')).toMatchObject({ status: 'False', message: '' });
  });
});

describe('a node that is assigned images', () => {
  it('pulls and pins them, and reports that in two writes', async () => {
    const set = buildSet('s', ['a', 'b', 'c']);
    assign(world, [set]);
    const machine = startPinMachine(files, world);
    await machine.settle();
    expect(await readImages(files)).toEqual(images('a', 'b', 'c'));
    expect(await dropIn()).toBe(formatSetsDropIn([set]));
    expect((await machine.host.containers.images(never)).every(({ isPinned }) => isPinned)).toBe(true);
    expect(findPinCondition(world, 'Progressing')).toMatchObject({ status: 'False', reason: 'AsExpected' });
    expect(world.status.pinnedImageSets).toEqual([{ name: 's', desiredGeneration: 1, currentGeneration: 1 }]);
    expect(machine.pins()).toBe(1);
    expect(world.writes).toBe(2);
    expect(world.gets).toBe(1);
  });

  it('does and reports nothing more when it has them, also after a restart', async () => {
    assign(world, [buildSet('s', ['a', 'b'])]);
    await startPinMachine(files, world).settle();
    const { writes } = world;
    const machine = startPinMachine(files, world);
    for (let minutes = 0; minutes < 5; minutes += 1) {
      await machine.settle();
      world.now += 60_000;
    }
    expect({ writes: world.writes, pins: machine.pins(), pulls: machine.pulls() }).toEqual({
      writes,
      pins: 0,
      pulls: [],
    });
  });

  it('pulls images shared by two sets once, and pins each set when it is complete', async () => {
    await behave({ refused: { [buildImageName('c')]: 'manifest unknown' } });
    const [s, t] = [buildSet('s', ['a', 'b']), buildSet('t', ['b', 'c'])];
    assign(world, [s, t]);
    const machine = startPinMachine(files, world);
    await machine.until(() => findPinCondition(world, 'Degraded')?.status === 'True');
    expect(await dropIn()).toBe(formatSetsDropIn([s]));
    expect(machine.pulls().filter((image) => image === buildImageName('b'))).toHaveLength(1);
    expect(world.status.pinnedImageSets).toMatchObject([
      { name: 's', currentGeneration: 1 },
      { name: 't', lastFailedGeneration: 1, lastFailedGenerationError: expect.stringContaining(buildImageName('c')) },
    ]);
    expect(findPinCondition(world, 'Degraded')?.message).toMatch(
      /SLW_PINNING_PULL: PinnedImageSet t, image .*manifest unknown/,
    );

    await behave({});
    await machine.settle();
    expect(await dropIn()).toBe(formatSetsDropIn([s, t]));
    expect(findPinCondition(world, 'Degraded')).toMatchObject({ status: 'False', message: '' });
    expect(world.status.pinnedImageSets).toMatchObject([
      { currentGeneration: 1 },
      { currentGeneration: 1, lastFailedGeneration: 1, lastFailedGenerationError: '' },
    ]);
  });

  it('keeps the old generation pinned until the new one is complete', async () => {
    const old = buildSet('s', ['a', 'b'], 1);
    assign(world, [old]);
    const machine = startPinMachine(files, world);
    await machine.settle();
    await behave({ refused: { [buildImageName('c')]: 'connection refused' } });
    const next = buildSet('s', ['b', 'c'], 2);
    assign(world, [next]);
    await machine.until(() => findPinCondition(world, 'Degraded')?.status === 'True');
    expect(await dropIn()).toBe(formatSetsDropIn([old]));
    expect(world.status.pinnedImageSets).toMatchObject([{ desiredGeneration: 2, currentGeneration: 1 }]);
    await behave({});
    await machine.settle();
    expect(await dropIn()).toBe(formatSetsDropIn([next]));
  });

  it('unpins what a set loses immediately, also with disk pressure', async () => {
    assign(world, [buildSet('s', ['a', 'b'], 1), buildSet('t', ['c'])]);
    const machine = startPinMachine(files, world);
    await machine.settle();
    world.node = { isReady: true, hasDiskPressure: true };
    const shrunk = buildSet('s', ['a'], 2);
    assign(world, [shrunk]);
    await machine.settle();
    expect(await dropIn()).toBe(formatSetsDropIn([shrunk]));
  });

  it('pulls an image again that a user removed, and keeps the rest pinned meanwhile', async () => {
    const set = buildSet('s', ['a', 'b']);
    assign(world, [set]);
    const machine = startPinMachine(files, world);
    await machine.settle();
    await writeImages(files, ownOwners(), images('a'));
    await behave({ refused: { [buildImageName('b')]: 'connection refused' } });
    await machine.until(() => findPinCondition(world, 'Degraded')?.status === 'True');
    expect(await dropIn()).toBe(formatSetsDropIn([set]));
    await behave({});
    await machine.settle();
    expect(await readImages(files)).toEqual(images('a', 'b'));
    expect(findPinCondition(world, 'Progressing')?.status).toBe('False');
  });

  it('restores its file if another client changed or removed it', async () => {
    const set = buildSet('s', ['a']);
    assign(world, [set]);
    const machine = startPinMachine(files, world);
    await machine.settle();
    await files.remove(DROP_IN);
    world.now += 60_000;
    await machine.settle();
    expect(await dropIn()).toBe(formatSetsDropIn([set]));
    expect(machine.pins()).toBe(2);
  });

  it('has no file left when no sets are assigned', async () => {
    assign(world, [buildSet('s', ['a'])]);
    const machine = startPinMachine(files, world);
    await machine.settle();
    assign(world, []);
    await machine.settle();
    expect(await dropIn()).toBeUndefined();
    expect((await machine.host.containers.images(never)).every(({ isPinned }) => !isPinned)).toBe(true);
    expect(world.status).not.toHaveProperty('pinnedImageSets');
  });
});

describe('a node without an assignment', () => {
  it('does nothing at all', async () => {
    const machine = startPinMachine(files, world);
    expect(await machine.step()).toBeNull();
    expect([world.writes, world.gets, machine.pins()]).toEqual([0, 0, 0]);
    expect(await files.lookAt('/etc/machine-config-daemon/pinned-images.json')).toBeNull();
  });

  it('does not touch a file that it did not write', async () => {
    await files.makeDirectory('/etc/crio', { ...ownOwners(), mode: 0o755 });
    await files.makeDirectory('/etc/crio/crio.conf.d', { ...ownOwners(), mode: 0o755 });
    await files.createFile(DROP_IN, { ...ownOwners(), mode: 0o644, bytes: Buffer.from('# mine') });
    await startPinMachine(files, world).settle();
    expect(await dropIn()).toBe('# mine');
  });

  it('unpins what it pinned for an assignment, but not while its MachineConfigNode is recreated', async () => {
    assign(world, [buildSet('s', ['a'])]);
    const machine = startPinMachine(files, world);
    await machine.settle();
    const { assignment } = world;
    world.assignment = null;
    expect(await machine.step()).toBe(10_000);
    expect(await dropIn()).toBeDefined();
    world.assignment = assignment;
    await machine.settle();
    expect(machine.pins()).toBe(1);

    world.assignment = null;
    await machine.settle();
    expect(await dropIn()).toBeUndefined();
    expect(world.status).not.toHaveProperty('pinnedImageSets');
    expect(findPinCondition(world, 'Progressing')).toMatchObject({ status: 'False', message: '' });
    expect(await files.lookAt('/etc/machine-config-daemon/pinned-images.json')).toBeNull();
  });
});

describe('a node that cannot pull now', () => {
  const set = buildSet('s', ['a', 'b']);

  it.each([
    ['is not Ready', { isReady: false, hasDiskPressure: false }, 'Waits for: the node to be Ready'],
    ['has disk pressure', { isReady: true, hasDiskPressure: true }, 'Waits for: the node’s disk pressure to clear'],
  ])('%s: it waits, and reports for what; that is not a failure', async (_, condition, words) => {
    world.node = condition;
    assign(world, [set]);
    const machine = startPinMachine(files, world);
    await machine.settle();
    expect(machine.pulls()).toEqual([]);
    expect(findPinCondition(world, 'Progressing')).toMatchObject({ status: 'True', reason: 'ImagePrefetch' });
    expect(findPinCondition(world, 'Progressing')?.message).toContain(words);
    expect(findPinCondition(world, 'Degraded')?.status).toBe('False');
    world.node = { isReady: true, hasDiskPressure: false };
    await machine.settle();
    expect(await dropIn()).toBe(formatSetsDropIn([set]));
  });

  it('waits for a pull slot, and pins what is present anyway', async () => {
    await writeImages(files, ownOwners(), images('a', 'b'));
    assign(world, [set, buildSet('t', ['c'])], { mayPull: false });
    const machine = startPinMachine(files, world);
    await machine.settle();
    expect(machine.pulls()).toEqual([]);
    expect(await dropIn()).toBe(formatSetsDropIn([set]));
    expect(findPinCondition(world, 'Progressing')?.message).toContain('Waits for: a pull slot');
  });

  it('pulls nothing that does not fit, and reports both sizes', async () => {
    await behave({ storeBytes: 50e6 });
    assign(world, [set]);
    const machine = startPinMachine(files, world);
    await machine.settle();
    expect(machine.pulls()).toEqual([]);
    expect(findPinCondition(world, 'Degraded')?.message).toMatch(
      /SLW_PINNING_WOULD_NOT_FIT: PinnedImageSet s: .*2 images\) need [\d.]+ MB .* Only 45 MB can be used/,
    );
    const { writes } = world;
    world.now += 60_000;
    await machine.settle();
    expect(world.writes).toBe(writes);
    await behave({});
    world.now += 60_000;
    await machine.settle();
    expect(await dropIn()).toBe(formatSetsDropIn([set]));
    expect(findPinCondition(world, 'Degraded')?.status).toBe('False');
  });

  it('cancels all pulls when the disk is full, reports it immediately, and continues when there is space', async () => {
    await behave({ refused: { [buildImageName('a')]: 'write /var/lib/containers: no space left on device' } });
    assign(world, [buildSet('s', ['a', 'b', 'c', 'd', 'e', 'f'])], { parallel: 1 });
    const machine = startPinMachine(files, world);
    await machine.until(() => findPinCondition(world, 'Degraded')?.status === 'True');
    expect(machine.pulls()).toEqual([buildImageName('a')]);
    expect(findPinCondition(world, 'Degraded')?.message).toContain('SLW_PINNING_NO_SPACE: PinnedImageSet s: ');
    await machine.step();
    expect(machine.pulls()).toHaveLength(1);
    await behave({});
    await machine.until(() => findPinCondition(world, 'Degraded')?.status === 'False');
    await machine.settle();
    expect(await readImages(files)).toHaveLength(6);
  });

  /** A disk with an image that takes a gigabyte for every check of the space, as long as the runtime unpacks it. */
  function createBomb({ endsWithPull }: { readonly endsWithPull: boolean }) {
    const disk = { sizeBytes: 100e9, freeBytes: 20e9, lowest: 20e9, isUnpacking: false, pulls: 0, abandoned: 0 };
    const giveBack = () => {
      disk.isUnpacking = false;
      disk.freeBytes = disk.sizeBytes / 5;
    };
    const store = () => ({ path: '/var/lib/containers', sizeBytes: disk.sizeBytes, freeBytes: disk.freeBytes });
    const containers = (given: Host['containers']): Host['containers'] => ({
      ...given,
      store: async () => store(),
      async measure() {
        if (disk.isUnpacking) disk.freeBytes = Math.max(0, disk.freeBytes - 0.5e9);
        disk.lowest = Math.min(disk.lowest, disk.freeBytes);
        return store();
      },
      async pull(_, __, signal) {
        disk.pulls += 1;
        disk.isUnpacking = true;
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            if (endsWithPull) giveBack();
            reject(new Error('cancelled'));
          });
        });
      },
      async abandonPulls() {
        disk.abandoned += 1;
        giveBack();
      },
    });
    return { disk, containers };
  }

  const RESERVE = 2 * 1024 ** 3;

  it('cancels the pull of an image that takes more than its size when the free space reaches the reserve', async () => {
    const { disk, containers } = createBomb({ endsWithPull: true });
    assign(world, [buildSet('s', ['a'])]);
    const machine = startPinMachine(files, world, containers);
    await machine.step();
    await machine.step();
    expect(disk.pulls).toBe(1);
    for (let checks = 0; checks < 100 && disk.isUnpacking; checks += 1) await machine.tick(250);
    expect(disk).toMatchObject({ isUnpacking: false, abandoned: 0 });
    expect(disk.lowest).toBeGreaterThan(RESERVE - 1e9);
    await machine.until(() => findPinCondition(world, 'Degraded')?.status === 'True');
    expect(findPinCondition(world, 'Degraded')?.message).toMatch(
      /SLW_PINNING_NO_SPACE: PinnedImageSet s: the free space in \/var\/lib\/containers fell to 2 GB while .* was being pulled and had taken 18 GB/,
    );

    // It is not pulled again while it is known not to fit, however long that lasts.
    const began = world.now;
    await machine.until(() => world.now - began > 3_600_000);
    expect(disk.pulls).toBe(1);
    Object.assign(disk, { sizeBytes: 500e9, freeBytes: 100e9 });
    await machine.until(() => disk.pulls === 2);
  });

  it('restarts a runtime that continues to unpack a cancelled pull, once, with half of the reserve left', async () => {
    const { disk, containers } = createBomb({ endsWithPull: false });
    assign(world, [buildSet('s', ['a'])]);
    const machine = startPinMachine(files, world, containers);
    await machine.step();
    await machine.step();
    for (let checks = 0; checks < 100 && disk.isUnpacking; checks += 1) await machine.tick(250);
    expect(disk).toMatchObject({ isUnpacking: false, pulls: 1, abandoned: 1 });
    expect(disk.lowest).toBeGreaterThan(RESERVE / 2 - 1e9);
    await machine.until(() => findPinCondition(world, 'Degraded')?.status === 'True');
    expect(findPinCondition(world, 'Degraded')?.message).toContain('SLW_PINNING_NO_SPACE');
  });

  it('checks the space before every image: what else writes to the disk stops the next one', async () => {
    const disk = { path: '/var/lib/containers', sizeBytes: 100e9, freeBytes: 50e9 };
    assign(world, [buildSet('s', ['a', 'b', 'c'])], { parallel: 1 });
    const machine = startPinMachine(files, world, (given) => ({
      ...given,
      store: async () => ({ ...disk }),
      measure: async () => ({ ...disk }),
      async pull(image, credential, signal) {
        await given.pull(image, credential, signal);
        disk.freeBytes = RESERVE + 1000;
      },
    }));
    await machine.until(() => findPinCondition(world, 'Degraded')?.status === 'True');
    expect(machine.pulls()).toHaveLength(1);
    expect(findPinCondition(world, 'Degraded')?.message).toMatch(/SLW_PINNING_WOULD_NOT_FIT: .*Only 1 kB can be used/);
    disk.freeBytes = 50e9;
    await machine.until(() => machine.pulls().length === 2);
  });

  it('waits for a runtime that restarts, and is degraded only after two minutes', async () => {
    assign(world, [set]);
    const machine = startPinMachine(files, world);
    await machine.settle();
    await behave({ isDown: true });
    assign(world, [buildSet('s', ['a', 'b', 'c'], 2)]);
    const began = world.now;
    await machine.until(() => world.now - began > 60_000);
    expect(findPinCondition(world, 'Degraded')?.status).toBe('False');
    expect(findPinCondition(world, 'Progressing')?.message).toContain('Waits for: the container runtime to respond');
    await machine.until(() => findPinCondition(world, 'Degraded')?.status === 'True');
    expect(world.now - began).toBeGreaterThanOrEqual(120_000);
    expect(world.now - began).toBeLessThan(140_000);
    expect(findPinCondition(world, 'Degraded')?.message).toContain('SLW_PINNING_RUNTIME');
    await behave({});
    await machine.settle();
    expect(findPinCondition(world, 'Degraded')?.status).toBe('False');
    expect(await readImages(files)).toHaveLength(3);
  });

  it('reports nothing before the runtime has responded once, because a booting node still has its images', async () => {
    assign(world, [set]);
    await startPinMachine(files, world).settle();
    const { writes } = world;
    await behave({ isDown: true });
    const machine = startPinMachine(files, world);
    const began = world.now;
    await machine.until(() => world.now - began > 30_000);
    await behave({});
    await machine.settle();
    expect(world.writes).toBe(writes);
  });

  it('continues while the cluster cannot be reached, and reports later', async () => {
    assign(world, [set]);
    const machine = startPinMachine(files, world);
    await machine.step();
    world.isAway = new KubeError('SLW_KUBE_UNREACHABLE', 'no way');
    await machine.until(async () => (await dropIn()) === formatSetsDropIn([set]));
    world.isAway = null;
    await machine.settle();
    expect(findPinCondition(world, 'Progressing')?.status).toBe('False');
  });
});

describe('a set', () => {
  it('that cannot be read keeps its pins, and that is reported', async () => {
    const set = buildSet('s', ['a']);
    assign(world, [set]);
    await startPinMachine(files, world).settle();
    world.sets.clear();
    const machine = startPinMachine(files, world);
    await machine.until(() => findPinCondition(world, 'Degraded')?.status === 'True');
    expect(findPinCondition(world, 'Degraded')?.message).toMatch(/SLW_PINNING_SET: PinnedImageSet s.*does not exist/);
    expect(await dropIn()).toBe(formatSetsDropIn([set]));
  });

  it('that is newer than its assignment is used, and not read again and again', async () => {
    assign(world, [buildSet('s', ['a'], 3)]);
    const { assignment } = world;
    if (assignment === null) throw new Error('there is one');
    world.assignment = { ...assignment, sets: [{ name: 's', uid: 'uid-s', generation: 2 }] };
    const machine = startPinMachine(files, world);
    await machine.settle();
    expect(world.status.pinnedImageSets).toMatchObject([{ desiredGeneration: 3, currentGeneration: 3 }]);
    world.assignment = assignment;
    await machine.settle();
    expect(world.gets).toBe(1);
  });

  it('that was deleted and recreated starts at generation 1 again', async () => {
    assign(world, [buildSet('s', ['a'], 7)]);
    const machine = startPinMachine(files, world);
    await machine.settle();
    assign(world, [buildSet('s', ['b'], 1, 'another')]);
    await machine.settle();
    expect(world.status.pinnedImageSets).toEqual([{ name: 's', desiredGeneration: 1, currentGeneration: 1 }]);
    expect(await dropIn()).toBe(formatSetsDropIn([buildSet('s', ['b'])]));
  });
});

describe('the reports to the cluster', () => {
  it('are limited, however many images there are: 13 writes at most within two minutes', async () => {
    const words = Array.from({ length: 120 }, (_, index) => index.toString(16).padStart(3, '0'));
    assign(world, [buildSet('s', words.slice(0, 60)), buildSet('t', words.slice(60))]);
    const machine = startPinMachine(files, world);
    const began = world.now;
    // Ten images per second.
    await machine.until((): boolean => {
      world.now += 100;
      return findPinCondition(world, 'Progressing')?.status === 'False';
    });
    expect(world.now - began).toBeLessThan(120_000);
    expect(world.writes).toBeLessThanOrEqual(13);
    expect(await readImages(files)).toHaveLength(120);
  });
});

describe('pulls that stall', () => {
  it('are ended and reported, do not keep other images waiting, and are retried', async () => {
    const stalling = ['a', 'b', 'c', 'd', 'e'];
    let isStalled = true;
    const set = buildSet('s', [...stalling, 'f']);
    assign(world, [set], { parallel: stalling.length });
    const stalled = images(...stalling);
    const machine = startPinMachine(files, world, (containers) => ({
      ...containers,
      pull(image, credential, signal) {
        if (!isStalled || !stalled.includes(image)) return containers.pull(image, credential, signal);
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('cancelled')), { once: true });
        });
      },
    }));
    const began = world.now;
    await machine.until(async () => (await readImages(files)).includes(buildImageName('f')));
    await machine.until(() => findPinCondition(world, 'Degraded')?.status === 'True');
    const { message } = findPinCondition(world, 'Degraded') ?? {};
    expect(message).toMatch(
      /SLW_PINNING_STALLED: PinnedImageSet s, image .*: the pull of .* was ended: expected .* within \d+ minutes/,
    );
    expect(world.now - began).toBeLessThan(30 * 60_000);
    isStalled = false;
    const gone = world.now;
    await machine.until(async () => (await readImages(files)).length === stalling.length + 1);
    printRecovery('images whose pulls stalled are present', world.now - gone, 5 * 60_000);
    expect(world.now - gone).toBeLessThan(5 * 60_000);
    await machine.settle();
    expect(findPinCondition(world, 'Degraded')?.status).toBe('False');
  });
});
