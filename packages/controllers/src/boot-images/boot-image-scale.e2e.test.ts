// A new release comes to a thousand MachineSets. It is measured: nothing else runs beside it.
import { bootImageHistories, machineSets } from '@slipway/api';
import type { JsonObject } from '@slipway/fleet/boot-images';
import { bootImagesData, gcpSpec, olderStream, rhel9 } from '@slipway/fleet/boot-images/testing';
import { describe, expect, it } from 'vitest';
import { all, places, until } from './testing/boot-images-cluster.ts';
import {
  addMachineSet,
  cluster,
  gcpImage,
  gcpImageOf,
  opt,
  prepare,
  run,
  useBootImagesCluster,
} from './testing/boot-images-scene.ts';

useBootImagesCluster();

/** With the stub that we keep already. */
const managedSpec: JsonObject = { ...gcpSpec, userDataSecret: { name: 'worker-user-data-managed' } };

const historiesOf = async (version: string): Promise<number> => {
  const histories = await all(cluster.client.list(bootImageHistories, { namespace: places.machineApi }));
  return histories.filter(({ status }) => status?.details?.at(-1)?.bootImageVersion === version).length;
};

describe('a thousand MachineSets', () => {
  const COUNT = 1000;
  const names = Array.from({ length: COUNT }, (_, at) => `set-${String(at).padStart(4, '0')}`);

  it('get another image within half a minute, by one patch each, and a second look writes nothing', async () => {
    await prepare('GCP', [opt.machineSets()]);
    await cluster.setGolden(bootImagesData({ 'rhel-9': olderStream }, '4.21.0'));
    await Promise.all(names.map((name) => addMachineSet(name, managedSpec)));
    const first = await run();
    await until(
      () => expect(first.verdicts().filter(({ verdict }) => verdict === 'current')).toHaveLength(COUNT),
      60_000,
    );
    expect((await first.writes()).filter(({ resource }) => resource === 'machinesets')).toEqual([]);

    const began = Date.now();
    await cluster.setGolden(bootImagesData());
    // Each has its image, and its history as well.
    await until(async () => {
      const { status } = await cluster.configuration();
      expect(status?.conditions).toContainEqual(
        expect.objectContaining({
          type: 'BootImageUpdateProgressing',
          status: 'False',
          message: expect.stringContaining(`Reconciled ${COUNT} of ${COUNT}`) as string,
        }),
      );
      expect(await historiesOf(rhel9.version)).toBe(COUNT);
    }, 120_000);
    const sets = await all(cluster.client.list(machineSets, { namespace: places.machineApi }));
    expect(sets.filter((set) => gcpImageOf(set) === gcpImage(rhel9.version))).toHaveLength(COUNT);
    const writes = await first.writes();
    const patches = writes.filter(({ resource }) => resource === 'machinesets');
    expect(patches.map(({ text }) => text).toSorted()).toEqual(
      names.map((name) => `patch machinesets ${places.machineApi}/${name} 200`),
    );
    const seconds = Math.max(...patches.map(({ at }) => at.getTime() - began)) / 1000;
    console.log(`${COUNT} MachineSets had another image after ${seconds.toFixed(1)} s`);
    expect(seconds).toBeLessThan(30);
    const reports = writes.filter(({ resource }) => resource.startsWith('machineconfigurations'));
    expect(reports.length).toBeLessThan((2 * (Date.now() - began)) / 1000);
    await first.stop();

    const second = await run();
    await until(
      async () => expect(await second.looks('boot-images-machine-sets')).toBeGreaterThanOrEqual(COUNT),
      60_000,
    );
    await until(async () => expect(await second.looks('boot-images-report')).toBeGreaterThanOrEqual(1));
    expect((await second.writes()).map(({ text }) => text)).toEqual([]);
  }, 180_000);
});
