import type { Node } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import {
  checksMachine,
  findDownSince,
  isMachineOf,
  protectedUntil,
  protectNode,
  readMachineReferences,
  releaseNode,
  turnOff,
  turnOn,
} from './reboot-protection.ts';

const DISABLED = 'cluster-autoscaler.kubernetes.io/scale-down-disabled';
const BEFORE = 'slipway.dev/scale-down-disabled-before';
const SKIP = 'cluster.x-k8s.io/skip-remediation';
const PAUSED = 'cluster.x-k8s.io/paused';
const NODES = 'slipway.dev/rebooting-nodes';

type Annotations = Record<string, string>;

const withAnnotations = (annotations: Annotations): Node => ({ metadata: { name: 'n', annotations } });

/** As a merge patch does. */
function patched(annotations: Annotations, patch: Readonly<Record<string, string | null>> | null): Annotations {
  const all = { ...annotations, ...patch };
  return Object.fromEntries(Object.entries(all).flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
}

describe('the cluster autoscaler', () => {
  it.each<[string, { before: Annotations; during: Annotations; midway?: Annotations; after: Annotations }]>([
    ['does not delete a node that may reboot', { before: {}, during: { [DISABLED]: 'true', [BEFORE]: '' }, after: {} }],
    [
      'gets back the value of a user that it would have ignored',
      {
        before: { [DISABLED]: 'false' },
        during: { [DISABLED]: 'true', [BEFORE]: 'false' },
        after: { [DISABLED]: 'false' },
      },
    ],
    [
      'still does not delete a node of which a user had said so',
      {
        before: { [DISABLED]: 'true' },
        during: { [DISABLED]: 'true', [BEFORE]: 'true' },
        after: { [DISABLED]: 'true' },
      },
    ],
    [
      'follows a user who allows it during the update',
      {
        before: {},
        during: { [DISABLED]: 'true', [BEFORE]: '' },
        midway: { [DISABLED]: 'false', [BEFORE]: '' },
        after: { [DISABLED]: 'false' },
      },
    ],
    [
      'follows a user who removes the annotation during the update',
      { before: {}, during: { [DISABLED]: 'true', [BEFORE]: '' }, midway: { [BEFORE]: '' }, after: {} },
    ],
  ])('%s', (_, { before, during, midway = during, after }) => {
    expect(patched(before, protectNode(withAnnotations(before)))).toEqual(during);
    expect(protectNode(withAnnotations(midway))).toEqual({});
    expect(patched(midway, releaseNode(withAnnotations(midway)))).toEqual(after);
    expect(releaseNode(withAnnotations(after))).toEqual({});
  });
});

describe('a machine or its health check', () => {
  it.each<[string, 'skip-remediation' | 'paused', Annotations, Annotations]>([
    ['is paused for the node', 'paused', {}, { [PAUSED]: 'slipway.dev', [NODES]: 'n' }],
    ['is skipped for the machine', 'skip-remediation', {}, { [SKIP]: 'slipway.dev', [NODES]: 'n' }],
    [
      'lists each node',
      'paused',
      { [PAUSED]: 'slipway.dev', [NODES]: 'm' },
      { [PAUSED]: 'slipway.dev', [NODES]: 'm,n' },
    ],
    ['that a user paused is left alone', 'paused', { [PAUSED]: '' }, { [PAUSED]: '' }],
    ['of a user who skips remediation is left alone', 'skip-remediation', { [SKIP]: '' }, { [SKIP]: '' }],
    ['that a user paused as a whole is left alone', 'skip-remediation', { [PAUSED]: '' }, { [PAUSED]: '' }],
    [
      'that another program resumed is paused again',
      'paused',
      { [NODES]: 'n' },
      { [PAUSED]: 'slipway.dev', [NODES]: 'n' },
    ],
  ])('%s', (_, which, before, after) => {
    const patch = turnOn(withAnnotations(before), which, 'n');
    expect(patched(before, patch)).toEqual(after);
    expect(turnOn(withAnnotations(after), which, 'n')).toBeNull();
  });

  it.each<[string, Annotations, Annotations]>([
    ['works again after the last node', { [PAUSED]: 'slipway.dev', [NODES]: 'n' }, {}],
    [
      'waits for the other nodes',
      { [PAUSED]: 'slipway.dev', [NODES]: 'm,n' },
      { [PAUSED]: 'slipway.dev', [NODES]: 'm' },
    ],
    [
      'stays paused if a user paused it meanwhile',
      { [PAUSED]: 'maintenance', [NODES]: 'n' },
      { [PAUSED]: 'maintenance' },
    ],
    ['that a user resumed meanwhile only loses our record', { [NODES]: 'n' }, {}],
    ['that we did not pause is left alone', { [PAUSED]: '' }, { [PAUSED]: '' }],
  ])('%s', (_, before, after) => {
    const patch = turnOff(withAnnotations(before), 'paused', (node) => node === 'n');
    expect(patched(before, patch)).toEqual(after);
    expect(turnOff(withAnnotations(after), 'paused', (node) => node === 'n')).toBeNull();
  });

  it('is the one that the Machine itself proves: a kubelet can write any name on its Node', () => {
    const node = withAnnotations({
      'cluster.x-k8s.io/machine': 'a',
      'cluster.x-k8s.io/cluster-namespace': 'clusters',
      'machine.openshift.io/machine': 'openshift-machine-api/b',
    });
    expect(readMachineReferences(node)).toEqual([
      { api: 'cluster.x-k8s.io', namespace: 'clusters', name: 'a' },
      { api: 'machine.openshift.io', namespace: 'openshift-machine-api', name: 'b' },
    ]);
    expect(readMachineReferences(withAnnotations({ 'machine.openshift.io/machine': 'b' }))).toEqual([]);
    expect(isMachineOf({ metadata: { name: 'a' }, status: { nodeRef: { name: 'n' } } }, 'n')).toBe(true);
    expect(isMachineOf({ metadata: { name: 'a' } }, 'n')).toBe(false);
  });

  it('of the Machine API is selected by the labels of the machine, and an empty selector selects all', () => {
    const machine = { metadata: { name: 'm', labels: { role: 'worker' } } };
    const check = (selector: object) => ({ metadata: { name: 'c' }, spec: { selector } });
    expect(checksMachine(check({ matchLabels: { role: 'worker' } }), machine)).toBe(true);
    expect(checksMachine(check({ matchLabels: { role: 'infra' } }), machine)).toBe(false);
    expect(checksMachine(check({}), machine)).toBe(true);
  });
});

describe('the protection of a node whose requests are answered', () => {
  const MINUTE = 60_000;
  const at = (minute: number): string => new Date(minute * MINUTE).toISOString();
  const since = (status: string, minute: number): Node => ({
    metadata: { name: 'n' },
    status: { conditions: [{ type: 'Ready', status, lastTransitionTime: at(minute) }] },
  });

  it.each<[string, Node, boolean, number, number | null]>([
    ['lasts until its daemon is done', since('True', 0), true, 500, Infinity],
    ['ends with its update', since('True', 0), false, 1, null],
    ['ends with its update if no kubelet has reported', { metadata: { name: 'n' } }, false, 1, null],
    ['lasts while it boots', since('Unknown', 10), true, 39, 40],
    ['lasts until it is ready again, even if its daemon is done', since('False', 10), false, 39, 40],
    ['ends when it has been down for too long to come back', since('Unknown', 10), true, 40, null],
  ])('%s', (_, node, isUpdating, minute, until) => {
    expect(protectedUntil(node, isUpdating, minute * MINUTE)).toBe(
      until === null || until === Infinity ? until : until * MINUTE,
    );
  });

  it('ends if it is unknown since when it is down', () => {
    const status = { conditions: [{ type: 'Ready', status: 'False' }] };
    expect(findDownSince({ metadata: { name: 'n' }, status })).toBe(0);
  });
});
