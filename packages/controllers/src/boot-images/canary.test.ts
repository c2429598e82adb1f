import type { MachineResource, ResourceVerdict } from '@slipway/fleet/boot-images';
import { describe, expect, it } from 'vitest';
import {
  type CanaryFacts,
  findNextInLine,
  formatCanaryName,
  type CanaryStep,
  type ObservedCanary,
  nextCanaryStep,
  selectTimeout,
} from './canary.ts';
import { createVerdictBoard } from './report-controller.ts';

it('the name of a canary fits into a label, and differs between sets', () => {
  expect(formatCanaryName('worker-a')).toBe('worker-a-canary');
  const long = 'w'.repeat(80);
  expect(formatCanaryName(`${long}-a`)).toHaveLength(63);
  expect(formatCanaryName(`${long}-a`)).not.toBe(formatCanaryName(`${long}-b`));
});

const canary: ObservedCanary = { isOurs: true, digest: 'new', madeAt: 1000, readyReplicas: 0, isGoing: false };
const CANARY_MS = selectTimeout('gcp');
const alone = { isFirst: true, canariesMadeAt: [] };
const facts: CanaryFacts = {
  wanted: 'new',
  failed: null,
  replicas: 3,
  found: null,
  others: alone,
  timeoutMs: CANARY_MS,
  now: 2000,
};

describe('the canary of a MachineSet', () => {
  it.each<[string, Partial<CanaryFacts>, CanaryStep]>([
    ['is created first', {}, { type: 'make' }],
    ['is not needed for a set without replicas', { replicas: 0 }, { type: 'not needed' }],
    ['is awaited', { found: canary }, { type: 'wait', ms: CANARY_MS - 1000 }],
    ['has passed when its Node is Ready', { found: { ...canary, readyReplicas: 1 } }, { type: 'passed' }],
    [
      'has passed even if no process saw it in time',
      { found: { ...canary, readyReplicas: 1 }, now: 3 * CANARY_MS },
      { type: 'passed' },
    ],
    ['has failed after half an hour', { found: canary, now: 1000 + CANARY_MS }, { type: 'failed' }],
    ['is deleted after a kill before its removal', { found: canary, failed: 'new' }, { type: 'failed' }],
    ['is not created again for a failed image', { failed: 'new' }, { type: 'refused' }],
    ['is created again for another image', { failed: 'old' }, { type: 'make' }],
    ['is deleted if it tries another image', { found: { ...canary, digest: 'old' } }, { type: 'outdated' }],
    ['is awaited while it terminates', { found: { ...canary, isGoing: true } }, { type: 'wait', ms: CANARY_MS }],
    ['waits for its turn', { others: { ...alone, isFirst: false } }, { type: 'wait', ms: CANARY_MS }],
    [
      'waits while another set has one',
      { others: { isFirst: true, canariesMadeAt: [500, 1000] } },
      { type: 'wait', ms: CANARY_MS - 1000 },
    ],
    [
      'does not wait for one that is older than the time limit, whatever keeps it',
      { others: { isFirst: true, canariesMadeAt: [2000 - CANARY_MS] } },
      { type: 'make' },
    ],
    [
      'is continued whoever is first',
      { found: { ...canary, readyReplicas: 1 }, others: { isFirst: false, canariesMadeAt: [1000] } },
      { type: 'passed' },
    ],
    [
      'is not awaited by a set without replicas',
      { replicas: 0, others: { isFirst: false, canariesMadeAt: [1000] } },
      { type: 'not needed' },
    ],
    [
      'is never another client’s MachineSet',
      { found: { ...canary, isOurs: false, readyReplicas: 1 } },
      { type: 'taken' },
    ],
  ])('%s', (_, change, step) => {
    expect(nextCanaryStep({ ...facts, ...change })).toEqual(step);
  });
});

it('the canary of a host may take an hour, any other half an hour', () => {
  expect(['baremetal', 'gcp', 'vsphere'].map((name) => selectTimeout(name as 'gcp') / 60_000)).toEqual([60, 30, 30]);
});

it('MachineSets that are about to change take turns by name, and one that failed or has had its turn stops no other', () => {
  const board = createVerdictBoard();
  const put = (
    name: string,
    verdict: ResourceVerdict['verdict'],
    api: MachineResource['api'] = 'machine.openshift.io',
  ) =>
    board.put({
      verdict: {
        resource: { api, kind: 'MachineSet', namespace: 'machines', name },
        platform: 'gcp',
        architecture: 'x86_64',
        verdict,
        image: 'old',
        target: 'new',
        stub: { current: '', wanted: '' },
        why: '',
        code: null,
      },
      change: null,
      gate: null,
      version: null,
      isUnknown: false,
      toImport: null,
    });
  const next = (last = '') => findNextInLine({ board, isCreating: false, last });
  expect(next()).toBeUndefined();
  put('a-of-cluster-api', 'update', 'cluster.x-k8s.io');
  for (const name of ['c', 'b', 'd']) put(name, 'update');
  put('a', 'current');
  expect(next()).toBe('b');
  expect(['b', 'c', 'd', 'e'].map(next)).toEqual(['c', 'd', 'b', 'b']);
  put('b', 'failed');
  expect(next()).toBe('c');
});
