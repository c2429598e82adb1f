import { expect, it } from 'vitest';
import type { Failures } from '../boot-images/conditions.ts';
import type { Decision } from '../boot-images/decide.ts';
import { entry, sampleBootImage, workerA } from '../testing/sample-boot-images.ts';
import { buildBootImageEntry, explainCanaries } from './bootimages-report.ts';

const { toImport: _, ...found } = entry({ verdict: 'update', image: sampleBootImage('1') });
const verdict = { ...found, code: null };
const decision: Decision = { verdict, change: null, gate: null, version: null, isUnknown: false, toImport: null };
const failure = { code: 'SLW_BOOT_IMAGES_CANARY', count: 3, since: '2026-05-02T08:00:00Z' } as const;
const failures: Failures = new Map([[`mapi-machineset/${workerA.namespace}/worker-a`, failure]]);

it('an update that the controllers could not make is a failure, with its start time', () => {
  expect(buildBootImageEntry(decision, failures)).toMatchObject({
    verdict: 'failed',
    code: 'SLW_BOOT_IMAGES_CANARY',
    why: expect.stringContaining('since 2026-05-02T08:00:00Z') as string,
  });
});

it('a failure that was resolved, or of another resource, is not reported', () => {
  expect(buildBootImageEntry({ ...decision, verdict: { ...verdict, verdict: 'current' } }, failures).verdict).toBe(
    'current',
  );
  const other = { ...verdict, resource: { ...workerA, name: 'worker-b' } };
  expect(buildBootImageEntry({ ...decision, verdict: other }, failures)).toMatchObject({
    verdict: 'update',
    code: null,
  });
});

it('what is to be imported is told only where the import is what is missing', () => {
  const artifact = { location: 'https://x/y', sha256: 'a', uncompressedSha256: null, version: '1' };
  const toImport = { artifact, commands: ['a'] };
  const manual = { ...decision, toImport, verdict: { ...verdict, verdict: 'manual' } } as const;
  expect(buildBootImageEntry(manual, failures).toImport).toEqual(toImport);
  expect(buildBootImageEntry({ ...manual, verdict: { ...verdict, verdict: 'skipped' } }, failures).toImport).toBeNull();
});

it('a MachineSet says which canary it waits for', () => {
  const old = { verdict: 'update', image: sampleBootImage('1') } as const;
  const named = (name: string) => ({ ...workerA, name });
  const entries = [
    entry(old),
    entry({ ...old, resource: named('worker-b'), why: 'a note' }),
    entry({ resource: named('worker-c') }),
    // Only its user data changes, which needs no canary.
    entry({ verdict: 'update', resource: named('worker-d') }),
    entry({ ...old, resource: { ...named('worker-e'), api: 'cluster.x-k8s.io' } }),
  ];
  const canaries = [{ name: 'worker-a-canary', of: 'worker-a' }];
  expect(explainCanaries(entries, canaries).map(({ why }) => why)).toEqual([
    'waits until the machine of its canary worker-a-canary is Ready',
    'waits for the canary of MachineSet worker-a (worker-a-canary). a note',
    '',
    '',
    '',
  ]);
  expect(explainCanaries(entries, [])).toEqual(entries);
});
