import { describe, expect, it } from 'vitest';
import { historyName, historySpec, nextDetails } from './history.ts';
import { clusterApiSet, machineDeployment, machineSet, NEW, NOW, OLD } from './testing/sample-facts.ts';

describe('the name of a BootImageHistory', () => {
  it.each([
    [machineSet, 'workers-mapi-machineset'],
    [clusterApiSet, 'workers-capi-machineset'],
    [machineDeployment, 'workers-capi-machinedeployment'],
  ])('%#: %s', (resource, name) => {
    expect(historyName(resource)).toBe(name);
  });

  it('has room for the longest names, and tells them apart', () => {
    const long = [`${'x'.repeat(252)}a`, `${'x'.repeat(252)}b`].map((name) =>
      historyName({ ...machineDeployment, name }),
    );
    expect(new Set(long).size).toBe(2);
    expect(long.map(({ length }) => length)).toEqual([253, 253]);
  });
});

it('says whose it is', () => {
  expect(historySpec(machineDeployment)).toEqual({
    machineResourceReference: { name: 'workers', resource: 'MachineDeployment', apiGroup: 'cluster.x-k8s.io' },
  });
});

describe('a change', () => {
  const first = nextDetails([], { version: OLD, generation: 2, now: NOW });

  it('is entered with its time, version and the counter of the ConfigMap', () => {
    expect(first).toEqual([{ updateTime: '2026-03-01T12:00:00Z', bootImageVersion: OLD, configMapGeneration: 2 }]);
    expect(nextDetails(first ?? [], { version: NEW, generation: 3, now: NOW })).toHaveLength(2);
  });

  it('is entered once', () => {
    expect(nextDetails(first ?? [], { version: OLD, generation: 2, now: NOW + 1 })).toBeNull();
  });

  it('is entered again when there was another between: a restore and the way forward are both changes', () => {
    const back = nextDetails(first ?? [], { version: NEW, generation: 2, now: NOW }) ?? [];
    expect(nextDetails(back, { version: OLD, generation: 2, now: NOW })).toHaveLength(3);
  });

  it('without a version is entered all the same', () => {
    expect(nextDetails([], { version: '', generation: 1, now: NOW })).toMatchObject([{ bootImageVersion: 'unknown' }]);
  });

  it('is among the last 200', () => {
    let details = first ?? [];
    for (let generation = 3; generation < 300; generation += 1) {
      details = nextDetails(details, { version: OLD, generation, now: NOW }) ?? [];
    }
    expect([details.length, details[0]?.configMapGeneration, details.at(-1)?.configMapGeneration]).toEqual([
      200, 100, 299,
    ]);
  });
});
