import { type PinReport, pinReport } from '@slipway/fleet/reports';
import { type SamplePinNode, samplePins, sampleSet } from '@slipway/fleet/testing';
import { describe, expect, it } from 'vitest';
import { pinChanges, pinText } from './status-text.ts';

const release = sampleSet('release-4.22.0-worker', 200);
const told = [release];
const GB = 1e9;
const at = (images: number, bytes: number, more: Partial<SamplePinNode> = {}): SamplePinNode => ({
  told,
  isPulling: true,
  progress: {
    sets: [
      { name: release.metadata.name, images: { done: images, total: 200 }, bytes: { done: bytes, total: 16 * GB } },
    ],
    bytes: { done: bytes, total: 16 * GB },
    bytesPerSecond: 120e6,
    secondsLeft: 90,
    ...more.progress,
  },
  ...more,
});
const done: SamplePinNode = { ...at(200, 16 * GB, { isPulling: false }), held: { [release.metadata.name]: 1 } };
const failure = `release-4.22.0-worker: registry.example.com/a@sha256:${'0'.repeat(64)}: denied [SLW_PINNING_PULL]`;
const buildReport = (nodes: Record<string, SamplePinNode | null>, gate: PinReport['gate'] = null): PinReport =>
  pinReport(samplePins({ sets: told, nodes, maxPulling: '10' }), gate, null);

describe('the text of slipway pin status', () => {
  it('has progress bars for the pool, its sets, and every machine', () => {
    const text = pinText(
      buildReport({
        'worker-0': done,
        'worker-1': at(100, 8 * GB),
        'worker-2': { ...at(3, 1e6), failure, failing: [release.metadata.name] },
      }),
    );
    expect(text).toBe(`worker: degraded  1 set, 3 machines
  [##########----------] 303 of 600 images, 24.0 GB of 48.0 GB, 240.0 MB/s, about 2 min left
  1 of 3 machines pinned, 1 pulling, 1 degraded
  at most 10 machines pull concurrently

  SET                    IMAGES  MACHINES                       BYTES OF ALL MACHINES
  release-4.22.0-worker  200     [#######-------------] 1 of 3  24.0 GB of 48.0 GB

  NODE      STATE     PROGRESS                IMAGES      BYTES               RATE        LEFT   WHY
  worker-0  pinned    [####################]  200 of 200  16.0 GB of 16.0 GB  -           -
  worker-1  pulling   [##########----------]  100 of 200  8.0 GB of 16.0 GB   120.0 MB/s  2 min
  worker-2  degraded  [#-------------------]  3 of 200    1.0 MB of 16.0 GB   120.0 MB/s  2 min  release-4.22.0-worker: registry.example.com/a@sha256:000000000000…: denied [SLW_PINNING_PULL]
`);
  });

  it('lists only machines that need attention in a large pool, the worst first', () => {
    const nodes = Object.fromEntries([
      ...Array.from({ length: 30 }, (_, index) => [`worker-${10 + index}`, done] as const),
      ['worker-50', at(1, 1)],
      ['worker-51', { ...at(1, 1), failure, failing: [release.metadata.name] }],
    ]);
    const rows = pinText(buildReport(nodes))
      .split('\n')
      .filter((line) => /^ {2}worker-\d/.test(line));
    expect(rows.map((row) => row.trim().split(/ +/).slice(0, 2))).toEqual([
      ['worker-51', 'degraded'],
      ['worker-50', 'pulling'],
    ]);
    expect(pinText(buildReport(nodes), { allNodes: true })).toContain('worker-10');
  });

  it('explains how to start if there are no sets, and that the gate is off', () => {
    const nothing = pinReport(samplePins({ sets: [], nodes: {} }), { isOn: false, because: 'disabled by x' }, null);
    expect(pinText(nothing)).toMatch(/feature gate PinnedImages is off \(disabled by x\)[^]*slipway pin release/);
  });

  it('escapes control characters', () => {
    expect(pinText(buildReport({ 'worker-0': { ...at(1, 1), failure: 'bad \u001b[2J' } }))).not.toContain('\u001b');
  });
});

describe('changes of pinned images', () => {
  const [before, after] = [
    buildReport({ 'worker-0': at(1, 1 * GB), 'worker-1': at(1, 1 * GB) }),
    buildReport({ 'worker-0': done, 'worker-1': at(1, 1 * GB) }),
  ];

  it('are everything at first, and then only what is new', () => {
    expect(pinChanges(null, before)).toEqual([
      'worker: 0 of 2 machines pinned: release-4.22.0-worker on 0 of 2',
      'worker/worker-0: pulling: 1 of 200 images, 1.0 GB of 16.0 GB, 120.0 MB/s, about 2 min left',
      'worker/worker-1: pulling: 1 of 200 images, 1.0 GB of 16.0 GB, 120.0 MB/s, about 2 min left',
    ]);
    expect(pinChanges(before, after)).toEqual([
      'worker: 1 of 2 machines pinned: release-4.22.0-worker on 1 of 2',
      'worker/worker-0: pulling → pinned: 200 of 200 images, 16.0 GB of 16.0 GB',
    ]);
    expect(pinChanges(after, after)).toEqual([]);
  });
});
