// A new release reaches many MachineSets together.
import { bootImageHistories, machineSets } from '@slipway/api';
import type { JsonObject } from '@slipway/fleet/boot-images';
import { bootImagesData, gcpSpec, olderStream, rhel9 } from '@slipway/fleet/boot-images/testing';
import { until } from '@slipway/testing/wait';
import { expect } from 'vitest';
import { places } from './boot-images-cluster.ts';
import { addMachineSet, cluster, gcpImage, readGcpImage, opt, prepare, run } from './boot-images-fixture.ts';

/** With the stub that is already managed. */
const managedSpec: JsonObject = { ...gcpSpec, userDataSecret: { name: 'worker-user-data-managed' } };

const countHistories = async (version: string): Promise<number> => {
  const histories = await Array.fromAsync(cluster.client.list(bootImageHistories, { namespace: places.machineApi }));
  return histories.filter(({ status }) => status?.details?.at(-1)?.bootImageVersion === version).length;
};

/**
 * Each set gets its image with one patch, and a second run writes nothing. Resolves to the seconds until the last set
 * had its image.
 */
export async function rollOutImages(count: number): Promise<number> {
  const names = Array.from({ length: count }, (_, at) => `set-${String(at).padStart(4, '0')}`);
  await prepare('GCP', [opt.machineSets()]);
  await cluster.setGolden(bootImagesData({ 'rhel-9': olderStream }, '4.21.0'));
  await Promise.all(names.map((name) => addMachineSet(name, managedSpec)));
  const first = await run();
  await until(
    () => expect(first.verdicts().filter(({ verdict }) => verdict === 'current')).toHaveLength(count),
    60_000,
  );
  expect((await first.writes()).filter(({ resource }) => resource === 'machinesets')).toEqual([]);

  const began = Date.now();
  await cluster.setGolden(bootImagesData());
  // Each has its image and its history.
  await until(async () => {
    const { status } = await cluster.configuration();
    expect(status?.conditions).toContainEqual(
      expect.objectContaining({
        type: 'BootImageUpdateProgressing',
        status: 'False',
        message: expect.stringContaining(`Reconciled ${count} of ${count}`) as string,
      }),
    );
    expect(await countHistories(rhel9.version)).toBe(count);
  }, 120_000);
  const sets = await Array.fromAsync(cluster.client.list(machineSets, { namespace: places.machineApi }));
  expect(sets.filter((set) => readGcpImage(set) === gcpImage(rhel9.version))).toHaveLength(count);
  const writes = await first.writes();
  const patches = writes.filter(({ resource }) => resource === 'machinesets');
  expect(patches.map(({ text }) => text).toSorted()).toEqual(
    names.map((name) => `patch machinesets ${places.machineApi}/${name} 200`),
  );
  const seconds = Math.max(...patches.map(({ answeredAt }) => answeredAt.getTime() - began)) / 1000;
  console.log(`${count} MachineSets had another image after ${seconds.toFixed(1)} s`);
  const reports = writes.filter(({ resource }) => resource.startsWith('machineconfigurations'));
  // At most once a second, and immediately when a condition changes.
  expect(reports.length).toBeLessThan(5 + (2 * (Date.now() - began)) / 1000);
  await first.stop();

  const second = await run();
  await until(async () => expect(await second.looks('boot-images-machine-sets')).toBeGreaterThanOrEqual(count), 60_000);
  await until(async () => expect(await second.looks('boot-images-report')).toBeGreaterThanOrEqual(1));
  expect((await second.writes()).map(({ text }) => text)).toEqual([]);
  return seconds;
}
