import { maxPullingAnnotation, type MachineConfigPool, pinnedImageSets, ROLE_LABEL } from '@slipway/api';
import { until } from '@slipway/testing/wait';
import { sampleStep } from '@slipway/testing/sample';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  imageNamed,
  type PinsCluster,
  type Running,
  type ControllerRunOptions,
  startPinsCluster,
} from './testing/pins-cluster.ts';

let cluster: PinsCluster;
const running: Running[] = [];
const run = (wish?: ControllerRunOptions): Running => {
  const started = cluster.run(wish);
  running.push(started);
  return started;
};
const stopAll = async (): Promise<void> => {
  for (const each of running.splice(0)) await each.stop();
};

beforeAll(async () => {
  cluster = await startPinsCluster();
});
afterEach(async () => {
  await stopAll();
  await cluster.clear();
});
afterAll(() => cluster?.stop());

const listSetNames = ({ spec }: MachineConfigPool): string[] | undefined =>
  spec.pinnedImageSets?.map(({ name }) => name);
const untilSets = (pool: string, ...names: string[]) =>
  until(async () => expect(listSetNames(await cluster.pool(pool)) ?? []).toEqual(names));
const readAssignedSets = async (node: string) => (await cluster.told(node))?.sets.map(({ name }) => name);
const untilAssigned = (node: string, ...names: string[]) =>
  until(async () => expect(await readAssignedSets(node)).toEqual(names));
const counts = (machineCount: number, updatedMachineCount: number, unavailableMachineCount = 0) => ({
  poolSynchronizerType: 'PinnedImageSets',
  machineCount,
  updatedMachineCount,
  readyMachineCount: updatedMachineCount,
  availableMachineCount: machineCount - unavailableMachineCount,
  unavailableMachineCount,
});
const untilCounts = (pool: string, expected: ReturnType<typeof counts>) =>
  until(async () => expect((await cluster.pool(pool)).status?.poolSynchronizersStatus).toMatchObject([expected]));
const isCounted = async (): Promise<boolean> =>
  (await cluster.pool('worker')).status?.poolSynchronizersStatus !== undefined && (await cluster.told('n1')) !== null;
const untilCondition = (pool: string, type: string, expected: object) =>
  until(async () => {
    const found = (await cluster.pool(pool)).status?.conditions?.find((each) => each.type === type);
    expect(found).toMatchObject(expected);
  });

describe('the sets of a pool', () => {
  it('follow their labels, and those that a user added stay', async () => {
    await cluster.addPool('worker', { pinnedImageSets: [{ name: 'mine' }] });
    await cluster.addPool('master');
    await cluster.addSet('mine', 'nobody');
    await cluster.addSet('app', 'worker');
    run();
    await untilSets('worker', 'mine', 'app');
    await cluster.addSet('release', 'worker');
    await untilSets('worker', 'mine', 'app', 'release');
    await cluster.client.patch(
      pinnedImageSets,
      { name: 'app' },
      { type: 'merge', body: { metadata: { labels: { [ROLE_LABEL]: 'master' } } } },
      {},
    );
    await untilSets('worker', 'mine', 'release');
    await untilSets('master', 'app');
    await cluster.removeSet('release');
    await until(async () => expect(listSetNames(await cluster.pool('worker'))).toEqual(['mine']));
  });

  it('that do not exist are named in the status, until a user creates them', async () => {
    await cluster.addPool('worker', { pinnedImageSets: [{ name: 'mine' }] });
    run();
    await untilCondition('worker', 'PinnedImageSetsDegraded', {
      status: 'True',
      reason: 'PinnedImageSetsInvalid',
      message: expect.stringMatching(/MachineConfigPool worker.*mine.*\[SLW_PIN_SET_MISSING\]/),
    });
    await cluster.addSet('mine', 'nobody');
    await untilCondition('worker', 'PinnedImageSetsDegraded', { status: 'False', reason: 'AsExpected' });
  });

  it.each<[string, readonly string[], RegExp]>([
    ['without images', [], /should have at least 1 items/],
    ['with an image by tag', ['registry.example.com/team/app:latest'], /must name the image by digest/],
    ['with an image twice', [imageNamed('a'), imageNamed('a')], /Duplicate value/],
    ['with an image that has a short digest', ['registry.example.com/team/app@sha256:abc'], /must name the image by/],
    ['with an invalid host', [`app@sha256:${'0'.repeat(64)}`], /must start with host/],
    ['with 501 images', Array.from({ length: 501 }, (_, index) => imageNamed(`i${index}`)), /at most 500 items/],
  ])('%s are refused', async (_, images, why) => {
    const set = { metadata: { name: 'bad' }, spec: { pinnedImages: images.map((name) => ({ name })) } };
    await expect(cluster.client.create(pinnedImageSets, set)).rejects.toThrow(why);
  });

  it('can contain 500 images', async () => {
    const images = Array.from({ length: 500 }, (_, index) => `i${index}`);
    expect((await cluster.addSet('large', 'worker', images)).spec.pinnedImages).toHaveLength(500);
  });
});

describe('a machine', () => {
  it('is assigned the sets of all its pools, and follows their changes', async () => {
    await cluster.addPool('worker');
    await cluster.addPool('infra');
    await cluster.addPool('master');
    const app = await cluster.addSet('app', 'infra');
    await cluster.addSet('release', 'worker');
    await cluster.addNode('n1', 'worker', 'infra');
    await cluster.addNode('n2', 'worker');
    await cluster.addNode('n3', 'master');
    run();
    await untilAssigned('n1', 'app', 'release');
    await untilAssigned('n2', 'release');
    expect(await cluster.told('n1')).toMatchObject({
      sets: [{ uid: app.metadata.uid, generation: 1 }, { generation: 1 }],
      parallel: 5,
    });
    // The first one that was recorded pulls the release alone.
    const turns = await Promise.all(['n1', 'n2'].map(async (name) => (await cluster.told(name))?.mayPull));
    expect(new Set(turns)).toEqual(new Set([false, true]));
    expect(await cluster.told('n3')).toMatchObject({ sets: [] });
    await cluster.addSet('control-plane', 'master');
    await until(async () => expect(await cluster.told('n3')).toMatchObject({ parallel: 2 }));
    await cluster.editSet('release', ['release', 'more']);
    await until(async () => expect(await cluster.told('n2')).toMatchObject({ sets: [{ generation: 2 }] }));
    await cluster.removeSet('app');
    await untilAssigned('n1', 'release');
    await cluster.removeSet('control-plane');
    await untilAssigned('n3');
  });

  it('is assigned sets that are created together in one write, and none while nothing changes', async () => {
    await cluster.addPool('worker');
    for (const name of ['n1', 'n2']) await cluster.addNode(name, 'worker');
    const { writes } = run();
    // Both records exist; whether they have been assigned their empty list is a matter of timing.
    await until(() =>
      expect(writes.filter((write) => write.includes('MachineConfigNode')).length).toBeGreaterThanOrEqual(2),
    );
    await Promise.all(['a', 'b', 'c'].map((name) => cluster.addSet(name, 'worker')));
    await untilAssigned('n1', 'a', 'b', 'c');
    await untilAssigned('n2', 'a', 'b', 'c');
    expect(writes.filter((write) => write === 'patch MachineConfigNode n1').length).toBeLessThanOrEqual(2);
    await untilCounts('worker', counts(2, 0));
    const before = writes.length;
    // An unrelated change, which the controllers have processed when this machine gets its assignment.
    await cluster.says('n1', { sets: { a: null, b: null, c: null } });
    await cluster.addNode('n3', 'worker');
    await untilAssigned('n3', 'a', 'b', 'c');
    await untilCounts('worker', counts(3, 0));
    expect(writes.slice(before).filter((write) => write.startsWith('patch MachineConfigNode'))).toEqual([
      'patch MachineConfigNode n3',
    ]);
  });

  it('must first release a set that was deleted and recreated, and does not count as updated because of the old one', async () => {
    await cluster.addPool('worker');
    await cluster.addSet('release', 'worker');
    await cluster.addNode('n1', 'worker');
    run();
    await untilAssigned('n1', 'release');
    await cluster.obeys('n1');
    await untilCounts('worker', counts(1, 1));
    const updated: (number | undefined)[] = [];
    const recordUpdatedCount = async (): Promise<void> => {
      updated.push((await cluster.pool('worker')).status?.poolSynchronizersStatus?.[0]?.updatedMachineCount);
    };
    await cluster.removeSet('release');
    const remade = await cluster.addSet('release', 'worker', ['other']);
    await untilAssigned('n1');
    await untilCounts('worker', counts(1, 0));
    await recordUpdatedCount();
    await cluster.obeys('n1');
    await until(async () => {
      await recordUpdatedCount();
      expect(await cluster.told('n1')).toMatchObject({ sets: [{ uid: remade.metadata.uid, generation: 1 }] });
    });
    await recordUpdatedCount();
    expect(updated.every((count) => count === 0)).toBe(true);
    await cluster.obeys('n1');
    await untilCounts('worker', counts(1, 1));
  });

  it('waits for a slot if its pool limits concurrent pulls', async () => {
    await cluster.addPool('worker');
    await cluster.patchPool('worker', { metadata: { annotations: { [maxPullingAnnotation]: '1' } } });
    for (const name of ['n1', 'n2', 'n3']) await cluster.addNode(name, 'worker');
    run();
    // The first known machine gets the first slot: all three must be known before there is anything to pull.
    for (const name of ['n1', 'n2', 'n3']) await untilAssigned(name);
    await cluster.addSet('release', 'worker');
    const turns = (...names: string[]) =>
      until(async () => {
        const pulling: string[] = [];
        for (const name of ['n1', 'n2', 'n3']) {
          const told = await cluster.told(name);
          expect(told?.sets).toHaveLength(1);
          if (told?.mayPull === true) pulling.push(name);
        }
        expect(pulling).toEqual(names);
      });
    await turns('n1');
    await cluster.obeys('n1');
    await turns('n1', 'n2');
    await cluster.says('n2', { sets: { release: null }, failing: ['release'], failure: 'SLW_PINNING_PULL: gone' });
    await turns('n1', 'n3');
    await cluster.obeys('n3');
    await turns('n1', 'n2', 'n3');
  });

  it('starts with one machine of a control plane, and stops there if that one runs out of space', async () => {
    await cluster.addPool('master');
    for (const name of ['n1', 'n2', 'n3']) await cluster.addNode(name, 'master');
    run();
    for (const name of ['n1', 'n2', 'n3']) await untilAssigned(name);
    await cluster.addSet('release', 'master');
    const turns = (...names: string[]) =>
      until(async () => {
        const told = await Promise.all(['n1', 'n2', 'n3'].map((name) => cluster.told(name)));
        expect(told.map((each) => each?.sets.length)).toEqual([1, 1, 1]);
        expect(['n1', 'n2', 'n3'].filter((_, index) => told[index]?.mayPull === true)).toEqual(names);
      });
    await turns('n1');
    const failure = 'SLW_PINNING_NO_SPACE: PinnedImageSet release: the free space fell to 2 GB';
    await cluster.says('n1', { sets: { release: null }, failing: ['release'], failure });
    await untilCondition('master', 'Degraded', { status: 'True', reason: 'PinnedImagesDiskFull' });
    await turns('n1');
    // The image that is too large is removed from the set.
    await cluster.obeys('n1');
    await turns('n1', 'n2');
    await cluster.obeys('n2');
    await turns('n1', 'n2', 'n3');
  });
});

describe('the status of a pool', () => {
  it('reports the progress of its machines, and names those that fail', async () => {
    await cluster.addPool('worker');
    await cluster.addSet('release', 'worker');
    for (const name of ['n1', 'n2', 'n3']) await cluster.addNode(name, 'worker');
    const { metrics } = run();
    await untilAssigned('n3', 'release');
    await untilCounts('worker', counts(3, 0));
    await cluster.obeys('n1');
    await untilCounts('worker', counts(3, 1));
    const pull = { sets: { release: null }, failing: ['release'], failure: 'SLW_PINNING_PULL: image app: unknown' };
    await cluster.says('n2', pull);
    await untilCondition('worker', 'PinnedImageSetsDegraded', {
      status: 'True',
      reason: 'PrefetchFailed',
      message: 'Node n2 is reporting: "SLW_PINNING_PULL: image app: unknown"',
    });
    await untilCounts('worker', counts(3, 1, 1));
    await untilCondition('worker', 'Degraded', { status: 'False' });
    await cluster.says('n3', { ...pull, failure: 'SLW_PINNING_NO_SPACE: image app: no space left on device' });
    await untilCondition('worker', 'Degraded', {
      status: 'True',
      reason: 'PinnedImagesDiskFull',
      message:
        'Node n3 is reporting: "SLW_PINNING_NO_SPACE: image app: no space left on device". Until it has space, no other machine of the pool starts to pull',
    });
    await untilCounts('worker', counts(3, 1, 2));
    expect(await metrics()).toContain('slipway_pinned_image_nodes{pool="worker",state="degraded"} 2');
    await cluster.obeys('n2', 'n3');
    await untilCounts('worker', counts(3, 3));
    for (const type of ['Degraded', 'PinnedImageSetsDegraded'])
      await untilCondition('worker', type, { status: 'False', reason: 'AsExpected' });
  });

  it('reports no images before the gate is on, and removes everything when it is turned off', async () => {
    await cluster.addPool('worker', { pinnedImageSets: [{ name: 'mine' }] });
    await cluster.addSet('mine', 'nobody');
    await cluster.addSet('release', 'worker');
    await cluster.addNode('n1', 'worker');
    const { turn, writes } = run({ gate: false });
    await untilCondition('worker', 'Updated', { type: 'Updated' });
    expect((await cluster.pool('worker')).status).not.toHaveProperty('poolSynchronizersStatus');
    expect(writes.filter((write) => write === 'patch MachineConfigPool worker')).toEqual([]);
    turn(true);
    await untilSets('worker', 'mine', 'release');
    await untilAssigned('n1', 'mine', 'release');
    await untilCounts('worker', counts(1, 0));
    turn(false);
    await untilSets('worker', 'mine');
    await until(async () => {
      const { metadata, status } = await cluster.pool('worker');
      expect(Object.keys(metadata.annotations ?? {}).filter((name) => name.includes('pinned-image'))).toEqual([]);
      expect(status).not.toHaveProperty('poolSynchronizersStatus');
      expect(status?.conditions?.map(({ type }) => type)).not.toContain('PinnedImageSetsDegraded');
      expect(await cluster.told('n1')).toBeNull();
    });
    turn(true);
    await untilAssigned('n1', 'mine', 'release');
  });
});

describe('the controllers', () => {
  it('that start with the gate off remove what earlier ones left behind, but not what a user added', async () => {
    await cluster.addPool('worker', { pinnedImageSets: [{ name: 'mine' }] });
    await cluster.addSet('mine', 'nobody');
    await cluster.addSet('release', 'worker');
    await cluster.addNode('n1', 'worker');
    run();
    await untilAssigned('n1', 'mine', 'release');
    await untilCounts('worker', counts(1, 0));
    await stopAll();
    run({ gate: false });
    await untilSets('worker', 'mine');
    await until(async () => {
      const { annotations = {} } = (await cluster.pool('worker')).metadata;
      expect(Object.keys(annotations).filter((name) => name.includes('pinned-image'))).toEqual([]);
      expect(await cluster.told('n1')).toBeNull();
    });
  });

  it('write nothing without a precondition, and another process takes over from a stopped leader', async () => {
    await cluster.addPool('worker');
    await cluster.addSet('release', 'worker');
    await cluster.addNode('n1', 'worker');
    const first = run({ elected: true });
    await until(() => expect(first.leadership?.held).toBe(true));
    const second = run({ elected: true });
    await untilAssigned('n1', 'release');
    await cluster.obeys('n1');
    await untilCounts('worker', counts(1, 1));
    await first.stop();
    await cluster.addSet('app', 'worker');
    await untilAssigned('n1', 'app', 'release');
    expect(second.leadership?.held).toBe(true);
    second.turn(false);
    await until(async () => expect(await cluster.told('n1')).toBeNull());
    await untilSets('worker');
    expect(first.log() + second.log()).not.toMatch(/SLW_KUBE_NO_PRECONDITION|this is a bug/);
  });

  it('that are killed between any two of their writes continue where they stopped', async () => {
    const { first, step } = sampleStep('pinned images', 3);
    let fatal = first;
    for (let isKilled = true; isKilled; fatal += isKilled ? step : 0) {
      await cluster.addPool('worker');
      await cluster.addSet('release', 'worker');
      await cluster.addNode('n1', 'worker');
      const dying = run({ killAtWrite: fatal });
      const isDead = (): boolean => dying.log().includes('the process is dead');
      await until(async () => expect(isDead() || (await isCounted())).toBe(true));
      isKilled = isDead();
      await stopAll();
      run();
      await untilAssigned('n1', 'release');
      await cluster.obeys('n1');
      await untilCounts('worker', counts(1, 1));
      await stopAll();
      await cluster.clear();
    }
    // The MachineConfigNode and its assignment, the sets of the pool, its summary and its status.
    expect(fatal).toBeGreaterThan(5);
  });
});
