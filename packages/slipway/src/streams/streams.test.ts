import { streamsReport } from '@slipway/fleet/reports';
import { poolOnStream, rhel9, sampleStreams } from '@slipway/fleet/testing';
import { describe, expect, it } from 'vitest';
import { streamsText } from './streams.ts';

const on = { isOn: true, because: 'a test says so' };
const off = { isOn: false, because: 'disabled by FeatureGate cluster for version 4.21.0' };
const worker = poolOnStream('worker', { tracked: 'rhel-9', reached: 'rhel-9' });

describe('the text of slipway streams', () => {
  it('is only a table if there are no problems', () => {
    const lifecycle = { 'rhel-9': { state: 'deprecated', successor: 'rhel-10', message: null } } as const;
    expect(streamsText(streamsReport(sampleStreams({ lifecycle }), [], on))).toBe(
      `STREAM   DEFAULT  LIFECYCLE                 POOLS  OS IMAGE                                      EXTENSIONS
rhel-10  -        -                         -      registry.example.com/os@sha256:aaaaaaaaaaaa…  registry.example.com/extensions@sha256:aaaaaaaaaaaa…
rhel-9   yes      deprecated, then rhel-10  -      registry.example.com/os@sha256:999999999999…  registry.example.com/extensions@sha256:999999999999…
`,
    );
  });

  it.each([
    [
      'a deprecated stream with pools on it',
      sampleStreams({
        lifecycle: { 'rhel-9': { state: 'deprecated', successor: 'rhel-10', message: 'Ends in 2027' } },
      }),
      worker,
      'Stream rhel-9 is deprecated. Ends in 2027. Migrate: slipway streams migrate worker rhel-10',
    ],
    [
      'a blocked stream with pools on it',
      sampleStreams({ lifecycle: { 'rhel-9': { state: 'blocked', successor: null, message: null } } }),
      worker,
      'the platform cannot be upgraded while pools are on it. Migrate: slipway streams migrate worker STREAM',
    ],
    [
      'a pool whose stream was removed',
      sampleStreams(),
      poolOnStream('worker', { tracked: 'rhel-8', images: rhel9 }),
      'Pool worker: frozen at registry.example.com/os@sha256:999999999999…: its stream rhel-8 is no longer in the payload',
    ],
    [
      'a pool whose stream is unknown',
      sampleStreams(),
      poolOnStream('worker', { tracked: null }),
      'Pool worker: frozen at its current OS: its OS predates streams',
    ],
    [
      'a migrating pool',
      sampleStreams(),
      poolOnStream('worker', { tracked: 'rhel-10', asked: 'rhel-10', reached: 'rhel-9' }),
      'Pool worker: migrating from rhel-9 to rhel-10. Follow it with: slipway status worker',
    ],
    [
      'a pool without a decision',
      sampleStreams(),
      poolOnStream('worker'),
      'Pool worker: the controllers have not assigned it a stream yet',
    ],
  ])('has a line for %s', (_, streams, pool, line) => {
    expect(streamsText(streamsReport(streams, [pool], on))).toContain(line);
  });

  it.each([
    ['the gate is off', off, /streams are off \(disabled by .*customNoUpgrade\.enabled of FeatureGate cluster/],
    ['the gate is unknown', null, /has no OSImageStream.*--feature-gates OSStreams=true/],
    ['the gate is on', on, /no OSImageStream yet, although OSStreams is on.*--release-image/],
  ])('explains what to do without an OSImageStream if %s', (_, gate, text) => {
    expect(streamsText(streamsReport(null, [poolOnStream('worker')], gate))).toMatch(text);
  });

  it('reports that no pool follows the existing streams while the gate is off', () => {
    const text = streamsText(streamsReport(sampleStreams(), [poolOnStream('worker', { tracked: 'gone' })], off));
    expect(text).toContain('no pool follows them');
    expect(text).not.toContain('frozen');
  });

  it('escapes control characters in messages of a payload', () => {
    const lifecycle = { 'rhel-9': { state: 'deprecated', successor: null, message: 'a\u001b[2Jb\nc' } } as const;
    const text = streamsText(streamsReport(sampleStreams({ lifecycle }), [worker], on));
    expect(text).not.toContain('\u001b');
    expect(text.trimEnd().split('\n')).toHaveLength(5);
  });
});
