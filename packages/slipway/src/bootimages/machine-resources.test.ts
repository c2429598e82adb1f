import { workerA } from '@slipway/fleet/testing';
import { expect, it } from 'vitest';
import { theOne } from './machine-resources.ts';

const twin = { ...workerA, api: 'cluster.x-k8s.io', namespace: 'openshift-cluster-api' } as const;
const other = { ...workerA, name: 'worker-b' };

it.each([
  ['a unique name', { name: 'worker-b' }, other],
  ['the API', { name: 'worker-a', api: 'capi' } as const, twin],
  ['the namespace', { name: 'worker-a', namespace: 'openshift-machine-api' }, workerA],
])('is found by %s', (_, which, found) => {
  expect(theOne(which, [workerA, twin, other])).toEqual(found);
});

it.each([
  [{ name: 'worker-a' }, /is ambiguous: .*openshift-cluster-api\/worker-a.*--api/],
  [{ name: 'worker-c' }, /there is no MachineSet or MachineDeployment "worker-c"\. List them with: slipway bootimages/],
  [{ name: 'worker-b', api: 'capi' } as const, /in Cluster API/],
  [{ name: 'worker-b', namespace: 'elsewhere' }, /in namespace elsewhere/],
])('is refused if %o does not match exactly one', (which, words) => {
  expect(() => theOne(which, [workerA, twin, other])).toThrow(
    expect.objectContaining({ code: 'SLW_CLI_NO_MACHINES', message: expect.stringMatching(words) as string }),
  );
});
