import { describe, expect, it } from 'vitest';
import { keyOfMachines, nameOf, optInOf, resourceFacts } from './facts.ts';
import { clusterApiSet, everything, machineDeployment, machineSet } from './testing/sample-facts.ts';

const metadata = { name: 'workers' };

describe('which API decides', () => {
  it('is what the MachineSet says, and for one of Cluster API what its twin says', () => {
    const moved = { metadata, status: { authoritativeAPI: 'ClusterAPI' } } as const;
    expect(resourceFacts(machineSet, moved).authoritativeApi).toBe('ClusterAPI');
    expect(resourceFacts(machineSet, { metadata }).authoritativeApi).toBeNull();
    expect(resourceFacts(clusterApiSet, { metadata }, moved).authoritativeApi).toBe('ClusterAPI');
    expect(resourceFacts(clusterApiSet, { metadata }, { status: {} }).authoritativeApi).toBe('MachineAPI');
    expect(resourceFacts(clusterApiSet, { metadata }).authoritativeApi).toBeNull();
  });
});

it('the rest is taken as it is', () => {
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Hive', name: 'h', uid: '1' }];
  const spec = { paused: true, template: { metadata: { labels: { os: 'x' } } } };
  const object = { metadata: { ...metadata, labels: { a: 'b' }, annotations: { c: 'd' }, ownerReferences }, spec };
  expect(resourceFacts(machineDeployment, object)).toEqual({
    resource: machineDeployment,
    labels: { a: 'b' },
    annotations: { c: 'd' },
    owners: [{ kind: 'Hive', name: 'h' }],
    machineLabels: { os: 'x' },
    authoritativeApi: null,
    isPaused: true,
  });
});

it('the opt-in is what spec says, with its generation', () => {
  const object = {
    metadata: { name: 'cluster', uid: 'u', generation: 7 },
    spec: { managedBootImages: { machineManagers: [...everything] } },
  };
  expect(optInOf(object)).toEqual({ uid: 'u', generation: 7, managers: everything });
  expect(optInOf({ metadata: { name: 'cluster' }, spec: {} })).toEqual({ uid: '', generation: 0, managers: [] });
  expect(optInOf(undefined)).toBeNull();
});

it('names and keys tell resources apart', () => {
  expect([machineSet, clusterApiSet, machineDeployment].map(keyOfMachines)).toEqual([
    'mapi-machineset/openshift-machine-api/workers',
    'capi-machineset/openshift-cluster-api/workers',
    'capi-machinedeployment/openshift-cluster-api/workers',
  ]);
  expect(nameOf(machineDeployment)).toBe('MachineDeployment openshift-cluster-api/workers');
});
