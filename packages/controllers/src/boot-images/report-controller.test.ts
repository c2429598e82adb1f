import type { Decision, MachineResource } from '@slipway/fleet/boot-images';
import { createMetrics } from '@slipway/kube';
import { printRecovery } from '@slipway/testing/wait';
import { describe, expect, it } from 'vitest';
import { createBootImageMetrics, createVerdictBoard } from './report-controller.ts';
import { simulateForbiddenWrite } from './testing/forbidden-write.ts';

const kind = { api: 'machine.openshift.io', kind: 'MachineSet' } as const;
const set = (name: string): MachineResource => ({ ...kind, namespace: 'machines', name });
const found = (name: string): Decision => ({
  verdict: {
    resource: set(name),
    platform: null,
    architecture: null,
    verdict: 'current',
    image: '',
    target: '',
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

describe('the verdict board', () => {
  it('is complete for a kind when all announced resources have been checked', () => {
    const board = createVerdictBoard();
    expect(board.isComplete(kind)).toBe(false);
    board.put(found('early'));
    board.begin(kind, ['early', 'a', 'b'].map(set));
    board.put(found('a'));
    expect(board.isComplete(kind)).toBe(false);
    board.remove(set('b'));
    expect(board.isComplete(kind)).toBe(true);
    expect(board.isComplete({ ...kind, api: 'cluster.x-k8s.io' })).toBe(false);
  });

  it('is complete immediately if there are none', () => {
    const board = createVerdictBoard();
    board.begin(kind, []);
    expect(board.isComplete(kind)).toBe(true);
  });

  it('forgets resources that were deleted while another process led', () => {
    const board = createVerdictBoard();
    for (const name of ['a', 'gone']) board.put(found(name));
    board.begin(kind, [set('a')]);
    expect([...board.values()].map(({ verdict }) => verdict.resource.name)).toEqual(['a']);
  });

  it('notifies on changes, and when the last awaited resource has been checked', () => {
    const board = createVerdictBoard();
    let told = 0;
    board.onChange(() => (told += 1));
    board.begin(kind, [set('a')]);
    board.put(found('a'));
    board.put(found('a'));
    expect(told).toBe(2);
  });
});

describe('a write that is forbidden for twelve minutes, and is retried all the time', () => {
  it('becomes Degraded once, after five minutes, and recovers with the first success', async () => {
    const { degraded, scrapes, patchedAt } = await simulateForbiddenWrite(12, 30);
    if (patchedAt === null) throw new Error('the MachineSet was never patched');
    expect(patchedAt).toBeGreaterThan(12);
    // The longest backoff.
    expect(patchedAt).toBeLessThan(12 + 2 + 1);
    printRecovery(
      'a MachineSet whose update was forbidden for 12 minutes is updated',
      (patchedAt - 12) * 60_000,
      2 * 60_000,
    );
    expect(degraded).toEqual([
      { minute: 0, status: 'False' },
      { minute: 5, status: 'True' },
      { minute: Math.floor(patchedAt), status: 'False' },
    ]);
    const isFailing = scrapes.map((page) => page.includes('slipway_boot_image_failed{'));
    expect(isFailing).toEqual(scrapes.map((_, minute) => minute > 0 && minute < patchedAt));
  });
});

it('the metric tells a MachineSet from a MachineDeployment of the same name, and forgets what no longer fails', async () => {
  const metrics = createMetrics();
  const measured = createBootImageMetrics(metrics);
  const labels = async () => {
    const all = await metrics.registry.getMetricsAsJSON();
    return all
      .filter(({ name }) => name === 'slipway_boot_image_failed')
      .flatMap(({ values }) => values.map((each) => each.labels));
  };
  const resource = { ...set('a'), api: 'cluster.x-k8s.io' } as const;
  const code = 'SLW_BOOT_IMAGES_WRITE';
  measured.failing([
    { resource, code },
    { resource: { ...resource, kind: 'MachineDeployment' }, code },
  ]);
  expect(await labels()).toMatchObject([{ kind: 'MachineSet' }, { kind: 'MachineDeployment' }]);
  measured.failing([{ resource, code }]);
  expect(await labels()).toEqual([
    { namespace: 'machines', name: 'a', api: 'cluster.x-k8s.io', kind: 'MachineSet', code },
  ]);
});
