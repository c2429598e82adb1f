// Pinned images on real CRI-Os and a real registry, with all that goes wrong there. Four machines, each with a story of its own
// that its cases tell in their order; the stories go on side by side.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { machineConfigPools, nodes } from '@slipway/api';
import { parsePinProgress } from '@slipway/fleet';
import { until } from '@slipway/testing/wait';
import { pushLayer } from '@slipway/tools/registry';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { type CrioFleet, buildImage, startCrioFleet } from './pinned-images/crio-fleet.ts';
import type { CrioMachine } from './pinned-images/crio-machine.ts';
import { type KilledDaemon, killAtEveryStep } from './pinned-images/killed-daemon.ts';

const { parts } = inject('crio');
const MEGABYTE = 2 ** 20;
const STORE = 16 * MEGABYTE;
/** An image that somebody removes is missed after a minute, and what failed is tried again after five at most. */
const [MINUTE, LATER] = [60_000, 400_000];
const MAX_TRIES = 6;
const SOON = 2500;
/** The cases of a machine follow one another; the machines do not wait for each other. */
const inOrder = { concurrent: false };

let fleet: CrioFleet;
const machines: CrioMachine[] = [];
const start = async (name: string, ...more: [] | [{ pools?: string[]; storeBytes?: number }]): Promise<CrioMachine> => {
  const { pools = [name], ...rest } = more[0] ?? {};
  for (const pool of pools) await fleet.addPool(pool);
  const machine = await fleet.addMachine(name, { pools, ...rest });
  machines.push(machine);
  return machine;
};
const smallLayer = (path: string) => ({ files: [{ path, randomBytes: 2000 }] });
const blobIn = (directory: string, digest: string): string => {
  const hex = digest.replace('sha256:', '');
  return join(directory, 'storage/docker/registry/v2/blobs/sha256', hex.slice(0, 2), hex, 'data');
};
const sorted = (...images: string[]): string[] => images.toSorted();
/** What the registry was asked for of this image's contents. */
const listBlobRequests = (name: string) =>
  fleet.registry.requests().filter(({ method, uri }) => method === 'GET' && uri.includes(`/team/${name}/blobs/`));
/** Until this holds, time passes again and again: as much as the longest pause between two tries. */
async function later(machine: CrioMachine, holds: (withinMs: number) => Promise<unknown>): Promise<void> {
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    await machine.passes(LATER);
    const isSo = await holds(SOON).then(
      () => true,
      () => false,
    );
    if (isSo) return;
  }
  await holds(SOON);
}

describe.skipIf(parts === undefined)('with real CRI-Os and a real registry,', () => {
  beforeAll(async () => {
    if (parts !== undefined) fleet = await startCrioFleet(parts);
  });
  afterEach(({ task }) => {
    if (task.result?.state !== 'fail') return;
    for (const machine of machines) console.error(machine.name, machine.said(), machine.log().slice(-10_000));
  });
  afterAll(() => fleet?.stop());

  describe.concurrent('a machine', () => {
    let machine: CrioMachine;
    let app: string;
    let other: string;
    beforeAll(async () => {
      machine = await start('plain', { pools: ['worker', 'infra'] });
      [app, other] = await Promise.all([fleet.push('app'), fleet.push('other')]);
      await machine.startDaemon();
    });

    it(
      'pulls by digest, with the pull secret for the most specific scope, and pins after a reload',
      inOrder,
      async () => {
        const { registry } = fleet;
        const wrong = { username: registry.username, password: 'mistaken-42' };
        await machine.logIn({ [registry.host]: wrong, [`${registry.host}/team`]: registry });
        await fleet.makeSet('first', 'worker', [app, other]);
        await machine.holds({ first: 1 });
        expect(await machine.images()).toEqual({ pinned: sorted(app, other), others: [] });
        expect(await machine.dropIn()).toEqual(sorted(app, other));
        expect(machine.reloads()).toBe(1);
        expect(machine.complaints()).toEqual([]);
      },
    );

    it('of a set that changed pins what is new, and lets go of what is not in it any more', inOrder, async () => {
      const next = await fleet.push('next');
      await fleet.changeSet('first', [app, next]);
      await machine.holds({ first: 2 });
      expect(await machine.images()).toEqual({ pinned: sorted(app, next), others: [other] });
      expect(await machine.dropIn()).toEqual(sorted(app, next));
      expect(machine.reloads()).toBe(2);
    });

    it('pulls again what was removed behind its back', inOrder, async () => {
      await machine.crio.crictl(['rmi', app]);
      expect((await machine.images()).pinned).not.toContain(app);
      await machine.passes(MINUTE);
      await until(async () => expect((await machine.images()).pinned).toContain(app), 'rollout');
      await machine.holds({ first: 2 });
      // The drop-in names it all the while: CRI-O pins it as it comes.
      expect(machine.reloads()).toBe(2);
    });

    it('counts what two sets share once, and keeps it pinned when one of them goes', inOrder, async () => {
      const base = await pushLayer(fleet.registry, 'team/base', { files: [{ path: 'base', randomBytes: 500_000 }] });
      const shared = await fleet.push('base', { layers: [base] });
      const own = await fleet.push('base', { layers: [base, smallLayer('own')] });
      await fleet.makeSet('second', 'worker', [shared, own]);
      await fleet.makeSet('third', 'worker', [shared]);
      await machine.holds({ first: 2, second: 1, third: 1 });
      expect(machine.reloads()).toBeLessThanOrEqual(4);
      const progress = parsePinProgress(machine.said().progress);
      // Two small images, one base of 500 kB and a top on it.
      expect(progress?.bytes?.total).toBeGreaterThan(500_000);
      expect(progress?.bytes?.total).toBeLessThan(550_000);
      await fleet.removeSet('second');
      await machine.holds({ first: 2, third: 1 });
      const { pinned, others } = await machine.images();
      expect(pinned).toContain(shared);
      expect(others).toContain(own);
    });

    it('of two pools holds the sets of both, and lets go of one’s when it leaves it', inOrder, async () => {
      const extra = await fleet.push('extra');
      await fleet.makeSet('of-infra', 'infra', [extra]);
      await machine.holds({ first: 2, third: 1, 'of-infra': 1 });
      expect((await machine.images()).pinned).toContain(extra);
      for (const name of ['worker', 'infra']) {
        await until(async () => {
          const { status } = await fleet.client.get(machineConfigPools, { name });
          expect(status?.poolSynchronizersStatus).toMatchObject([{ machineCount: 1, updatedMachineCount: 1 }]);
        }, 'rollout');
      }
      const labels = { 'node-role.kubernetes.io/infra': null };
      await fleet.client.patch(nodes, { name: 'plain' }, { type: 'merge', body: { metadata: { labels } } }, {});
      await machine.holds({ first: 2, third: 1 });
      expect((await machine.images()).others).toContain(extra);
    });

    it('without any set has no drop-in and pins nothing, and the images stay', inOrder, async () => {
      const before = machine.reloads();
      const { pinned, others } = await machine.images();
      await Promise.all(['first', 'third'].map((set) => fleet.removeSet(set)));
      await machine.holds({});
      expect(await machine.dropIn()).toBeNull();
      expect(await machine.images()).toEqual({ pinned: [], others: sorted(...pinned, ...others) });
      expect(machine.reloads()).toBeGreaterThan(before);
      expect(machine.complaints()).toEqual([]);
    });
  });

  describe.concurrent('a machine in trouble', () => {
    let machine: CrioMachine;
    let kept: string;
    beforeAll(async () => {
      machine = await start('shaky');
      kept = await fleet.push('kept');
      await machine.startDaemon();
      await fleet.makeSet('kept', 'shaky', [kept]);
      await machine.holds({ kept: 1 });
    });
    const failed = (code: string) => until(() => expect(machine.log()).toContain(`"code":"${code}"`), 'rollout');
    /** What it held before is held all the while. */
    const stillKept = async () => expect((await machine.images()).pinned).toEqual([kept]);

    it(
      'waits for a registry that is away or slow without complaint, and goes on when it is back',
      inOrder,
      async () => {
        const image = machine.behindDoor(await fleet.push('late', buildImage('late', 2 * MEGABYTE)));
        machine.door.setAway(true);
        await fleet.makeSet('late', 'shaky', [image]);
        await machine.says({ progressing: 'True', sets: { late: { wants: 1, has: 0, failure: '' } } });
        await failed('SLW_PINNING_SIZES');
        await stillKept();
        machine.door.shutAfter(MEGABYTE);
        machine.door.setAway(false);
        await machine.passes(2000);
        await until(() => expect(machine.door.waiting()).toBe(1), 'rollout');
        // It goes away again in the middle of the image.
        machine.door.setAway(true);
        await failed('SLW_PINNING_PULL');
        machine.door.shutAfter(MEGABYTE);
        machine.door.setAway(false);
        await machine.passes(4000);
        await until(() => expect(machine.door.waiting()).toBe(1), 'rollout');
        // An hour in the middle of an image is slow, and nothing worse.
        await machine.passes(60 * MINUTE);
        await machine.says({ progressing: 'True', progress: expect.stringContaining('- late: 0 of 1 images') });
        await stillKept();
        machine.door.shutAfter(null);
        await machine.holds({ kept: 1, late: 1 });
        expect((await machine.images()).pinned).toEqual(sorted(kept, image));
        expect(machine.complaints()).toEqual([]);
        await fleet.removeSet('late');
        await machine.holds({ kept: 1 });
      },
    );

    it(
      'says which digest the registry does not have, and pins nothing of the set before it is right',
      inOrder,
      async () => {
        const good = await fleet.push('good');
        const wrong = `${fleet.registry.host}/team/good@sha256:${'0'.repeat(64)}`;
        await fleet.makeSet('mixed', 'shaky', [good, wrong]);
        await machine.says({ progressing: 'True' });
        expect(machine.said().degraded).toBe('False');
        await later(machine, (withinMs) =>
          machine.says({ degraded: 'True', sets: { mixed: { wants: 1, has: 0 }, kept: { failure: '' } } }, withinMs),
        );
        const { problem } = machine.said();
        expect(problem).toMatch(
          /^SLW_PINNING_SIZES: PinnedImageSet mixed, image .*@sha256:0{64}: .*remove it from the set/,
        );
        await until(async () => expect((await machine.images()).others).toContain(good), 'rollout');
        await stillKept();
        await fleet.changeSet('mixed', [good]);
        await machine.holds({ kept: 1, mixed: 2 });
        expect((await machine.images()).pinned).toEqual(sorted(kept, good));
      },
    );

    it('takes no bytes that are not what the digest says, and the right ones when they come', inOrder, async () => {
      const spec = { ...smallLayer('broken'), compression: 'none' } as const;
      const layer = await pushLayer(fleet.registry, 'team/broken', spec);
      const image = await fleet.push('broken', { layers: [layer] });
      const blob = blobIn(fleet.registry.directory, layer.digest);
      const right = await readFile(blob);
      await writeFile(blob, Buffer.from(right).fill(1, 600, 700));
      await fleet.makeSet('broken', 'shaky', [image]);
      await machine.says({ progressing: 'True' });
      await later(machine, (withinMs) =>
        machine.says({ degraded: 'True', problem: expect.stringContaining(image) }, withinMs),
      );
      expect(machine.said().problem).toMatch(/^SLW_PINNING_PULL: PinnedImageSet broken, image .*Push the image again/);
      expect((await machine.images()).others).not.toContain(image);
      await writeFile(blob, right);
      await later(machine, (withinMs) => machine.holds({ kept: 1, mixed: 2, broken: 1 }, withinMs));
      expect((await machine.images()).pinned).toContain(image);
    });

    it('with a wrong password says where the right one belongs, and goes on once it is there', inOrder, async () => {
      const image = await fleet.push('secret');
      const { host, username } = fleet.registry;
      await machine.logIn({ [host]: { username, password: 'mistaken-42' } });
      await fleet.makeSet('secret', 'shaky', [image]);
      await machine.says({ progressing: 'True' });
      await later(machine, (withinMs) =>
        machine.says({ degraded: 'True', problem: expect.stringContaining(image) }, withinMs),
      );
      expect(machine.said().problem).toMatch(/^SLW_PINNING_SIZES: PinnedImageSet secret, .*SLW_REGISTRY_/);
      expect(machine.said().problem + machine.log()).not.toContain('mistaken-42');
      await machine.logIn({ [host]: fleet.registry, [machine.door.host]: fleet.registry });
      await later(machine, (withinMs) => machine.holds({ kept: 1, mixed: 2, broken: 1, secret: 1 }, withinMs));
      expect((await machine.images()).pinned).toContain(image);
    });

    it(
      'whose CRI-O is killed in the middle of a pull goes on when it is back, without complaint',
      inOrder,
      async () => {
        const before = machine.complaints().length;
        const image = machine.behindDoor(await fleet.push('cut', buildImage('cut', 2 * MEGABYTE)));
        machine.door.shutAfter(MEGABYTE);
        await fleet.makeSet('cut', 'shaky', [image]);
        await until(() => expect(machine.door.waiting()).toBe(1), 'rollout');
        await machine.crio.kill();
        await until(() => expect(machine.log()).toContain('SLW_PINNING_RUNTIME'), 'rollout');
        expect(machine.said()).toMatchObject({ progressing: 'True', degraded: 'False', sets: { cut: { has: 0 } } });
        machine.door.shutAfter(null);
        await machine.crio.start();
        await machine.passes(MINUTE);
        await machine.holds({ kept: 1, mixed: 2, broken: 1, secret: 1, cut: 1 });
        expect((await machine.images()).pinned).toContain(image);
        expect(machine.complaints().slice(before)).toEqual([]);
      },
    );
  });

  describe.concurrent('a machine with little space', () => {
    let machine: CrioMachine;
    let small: string;
    beforeAll(async () => {
      machine = await start('small', { storeBytes: STORE });
      small = await fleet.push('tiny');
      await machine.startDaemon();
    });
    const poolSays = (type: string, expected: object) =>
      until(async () => {
        const { status } = await fleet.client.get(machineConfigPools, { name: 'small' });
        expect(status?.conditions?.find((each) => each.type === type)).toMatchObject(expected);
      }, 'rollout');

    it('pulls nothing of what would not fit', inOrder, async () => {
      const large = await fleet.push('large', buildImage('large', STORE / 2));
      await fleet.makeSet('space', 'small', [small, large]);
      await machine.says({ progressing: 'True', degraded: 'True' });
      expect(machine.said().problem).toMatch(
        /^SLW_PINNING_WOULD_NOT_FIT: PinnedImageSet space: .*need 1[67]\S* MB .*are free/,
      );
      expect(await machine.images()).toEqual({ pinned: [], others: [] });
      expect([...listBlobRequests('large'), ...listBlobRequests('tiny')]).toEqual([]);
      await fleet.changeSet('space', [small]);
      await machine.holds({ space: 2 });
      expect(await machine.images()).toEqual({ pinned: [small], others: [] });
    });

    it(
      'stops all pulls when the disk gets full, pins nothing of the set, says so, and goes on when there is space',
      inOrder,
      async () => {
        const filler = join(machine.crio.root, '/var/lib/containers/filler');
        await writeFile(filler, Buffer.alloc(STORE / 2));
        // It is small on its way, and larger than what is left when it is unpacked.
        const contents = new Uint8Array((STORE * 5) / 8);
        const swelling = await fleet.push('swelling', { layers: [{ files: [{ path: 'zeros', contents }] }] });
        const held = machine.behindDoor(await fleet.push('held', buildImage('held', MEGABYTE)));
        machine.door.shutAfter(MEGABYTE / 2);
        await fleet.makeSet('bomb', 'small', [held]);
        await until(() => expect(machine.door.waiting()).toBe(1), 'rollout');
        await fleet.changeSet('bomb', [held, swelling]);
        await machine.says({ progressing: 'True', degraded: 'True', sets: { space: { has: 2, failure: '' } } });
        // CRI-O meets the end of the disk, or the daemon sees the reserve used before: whichever is faster.
        expect(machine.said().problem).toMatch(
          /^SLW_PINNING_NO_SPACE: PinnedImageSet bomb: .*(no space left on device|all pulls were cancelled)/,
        );
        await until(() => expect(machine.door.waiting()).toBe(0), 'rollout');
        expect(await machine.images()).toEqual({ pinned: [small], others: [] });
        expect(await machine.dropIn()).toEqual([small]);
        await poolSays('PinnedImageSetsDegraded', { status: 'True', message: expect.stringContaining('small') });
        await poolSays('Degraded', { status: 'True', message: expect.stringContaining('SLW_PINNING_NO_SPACE') });
        machine.door.shutAfter(null);
        await rm(filler);
        await later(machine, (withinMs) => machine.holds({ space: 2, bomb: 2 }, withinMs));
        expect(await machine.images()).toEqual({ pinned: sorted(small, swelling, held), others: [] });
        await poolSays('Degraded', { status: 'False' });
      },
    );
  });

  describe.concurrent('a machine whose daemon is killed', () => {
    let machine: CrioMachine;
    beforeAll(async () => {
      machine = await start('killed');
    });

    it(
      'at any of its steps goes on where it stood, and its pins always name whole sets that are there',
      { ...inOrder, timeout: 400_000 },
      async () => {
        const killed: KilledDaemon[] = await killAtEveryStep(fleet, machine, 'killed');
        console.log(`daemons killed at: ${killed.map(({ step, reloads }) => `${step} (${reloads})`).join(', ')}`);
        expect(killed.flatMap(({ problems }) => problems)).toEqual([]);
        expect(killed.length).toBeGreaterThanOrEqual(14);
      },
    );
  });
});
