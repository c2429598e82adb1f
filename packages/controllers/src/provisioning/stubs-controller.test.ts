import { buildStub } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import { type ObservedStub, nextStub, pointsAt, type StubStep } from './stubs-controller.ts';

const ours: ObservedStub = { managed: true, intact: true, current: true, pointsAtPool: true };

const table: [string, ObservedStub | undefined, StubStep][] = [
  ['none', undefined, 'create'],
  ['ours, as it should be', ours, 'keep'],
  ['ours, from before a rotation', { ...ours, current: false }, 'renew'],
  ['ours, changed by a user', { ...ours, intact: false, current: false }, 'put back'],
  ['ours, emptied by a user', { managed: true, intact: false, current: false, pointsAtPool: false }, 'put back'],
  ['another operator’s', { managed: false, intact: false, current: false, pointsAtPool: true }, 'take over'],
  ['something else', { managed: false, intact: false, current: false, pointsAtPool: false }, 'leave alone'],
];

describe('nextStub', () => {
  it.each(table)('of %s', (_, kept, step) => {
    expect(nextStub(kept)).toBe(step);
  });
});

const SOURCE = 'https://api-int.example.com:22623/config/worker';

describe('a stub of a pool', () => {
  it.each([
    ['ours', JSON.stringify(buildStub({ server: 'https://a:22623', pool: 'worker', caBundle: 'x' }))],
    ['of spec 3', JSON.stringify({ ignition: { version: '3.2.0', config: { merge: [{ source: SOURCE }] } } })],
    ['of spec 2', JSON.stringify({ ignition: { version: '2.2.0', config: { append: [{ source: SOURCE }] } } })],
    ['that replaces', JSON.stringify({ ignition: { version: '3.2.0', config: { replace: { source: SOURCE } } } })],
  ])('is recognised by the URL it references: %s', (_, text) => {
    expect(pointsAt(text, 'worker')).toBe(true);
    expect(pointsAt(text, 'master')).toBe(false);
  });

  it.each([
    ['a script', '#!/bin/sh\necho hello'],
    ['a whole config', JSON.stringify({ ignition: { version: '3.2.0' }, storage: { files: [] } })],
    ['nothing', ''],
    [
      'something huge',
      `{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"${SOURCE}"}]}},"x":"${'y'.repeat(70_000)}"}`,
    ],
  ])('is not %s', (_, text) => {
    expect(pointsAt(text, 'worker')).toBe(false);
  });
});
