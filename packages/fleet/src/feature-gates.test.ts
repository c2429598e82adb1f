import type { ClusterVersion, FeatureGate } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { featureGates, parseFeatureGates, resolveFeatureGates } from './feature-gates.ts';
import type { FeatureGateSettings } from './feature-gates.ts';

const cluster = (versions: { version: string; enabled?: string[]; disabled?: string[] }[]): FeatureGate => ({
  metadata: { name: 'cluster' },
  spec: {},
  status: {
    featureGates: versions.map(({ version, enabled = [], disabled = [] }) => ({
      version,
      enabled: enabled.map((name) => ({ name })),
      disabled: disabled.map((name) => ({ name })),
    })),
  },
});

const at = (version: string): ClusterVersion => ({
  metadata: { name: 'version' },
  spec: { clusterID: '' },
  status: { desired: { version, image: '' }, observedGeneration: 1, versionHash: '', availableUpdates: null },
});

const custom = (enabled: string[], disabled: string[]): FeatureGate => ({
  metadata: { name: 'cluster' },
  spec: { featureSet: 'CustomNoUpgrade', customNoUpgrade: { enabled, disabled } },
});

const on = (featureGate?: FeatureGate, clusterVersion?: ClusterVersion, flags: FeatureGateSettings = {}): string[] => {
  const gates = resolveFeatureGates({ featureGate, clusterVersion, flags });
  return featureGates.filter((name) => gates[name].on);
};

describe('resolveFeatureGates', () => {
  it('has every gate off by default', () => {
    expect(on()).toEqual([]);
  });

  it('follows the flags without a FeatureGate', () => {
    expect(on(undefined, undefined, { OSStreams: true, PinnedImages: false })).toEqual(['OSStreams']);
  });

  it('follows the FeatureGate, not the flags, if there is one', () => {
    const gate = cluster([{ version: '4.16.3', enabled: ['PinnedImages'], disabled: ['OSStreams'] }]);
    expect(on(gate, at('4.16.3'), { OSStreams: true, ManagedBootImages: true })).toEqual(['PinnedImages']);
  });

  it('reads the entry of the desired version of the cluster', () => {
    const gate = cluster([
      { version: '4.16.3', enabled: ['OSStreams'] },
      { version: '4.16.2', enabled: ['PinnedImages'] },
    ]);
    expect(on(gate, at('4.16.3'))).toEqual(['OSStreams']);
    expect(on(gate, at('4.16.2'))).toEqual(['PinnedImages']);
  });

  it.each([
    ['4.16.9', []],
    ['4.17.0', ['ManagedBootImages']],
    ['4.19.1', ['ManagedBootImages', 'PinnedImages']],
    ['5.0.0', ['ManagedBootImages', 'PinnedImages']],
  ])('counts an absent gate on OpenShift %s as on once it is standard', (version, expected) => {
    expect(on(cluster([{ version }]), at(version))).toEqual(expected);
  });

  it('keeps a standard gate off if the FeatureGate disables it', () => {
    expect(on(cluster([{ version: '5.0.0', disabled: ['PinnedImages'] }]), at('5.0.0'))).toEqual(['ManagedBootImages']);
  });

  it('reads spec.customNoUpgrade on plain Kubernetes, which has no status', () => {
    expect(on(custom(['OSStreams', 'Other'], ['PinnedImages']))).toEqual(['OSStreams']);
  });

  it.each(['TechPreviewNoUpgrade', 'DevPreviewNoUpgrade'] as const)(
    'has every gate on with spec.featureSet %s on plain Kubernetes, and reports why',
    (featureSet) => {
      const preview = (more: object = {}): FeatureGate => ({
        metadata: { name: 'cluster' },
        spec: { featureSet, customNoUpgrade: { enabled: [], disabled: ['OSStreams'] } },
        ...more,
      });
      expect(on(preview())).toEqual([...featureGates]);
      const { OSStreams } = resolveFeatureGates({ featureGate: preview(), clusterVersion: undefined, flags: {} });
      expect(OSStreams.because).toBe(`enabled by spec.featureSet ${featureSet} of FeatureGate cluster`);
      // What the platform computes decides, if it does.
      const { status } = cluster([{ version: '4.16.3', enabled: ['PinnedImages'] }]);
      expect(on(preview({ status }), at('4.16.3'))).toEqual(['PinnedImages']);
    },
  );

  it.each(['', 'OKD'] as const)('has no gate on with spec.featureSet %j on plain Kubernetes', (featureSet) => {
    expect(on({ metadata: { name: 'cluster' }, spec: { featureSet } })).toEqual([]);
  });

  it('reports what decided', () => {
    const { OSStreams } = resolveFeatureGates({
      featureGate: custom(['OSStreams'], []),
      clusterVersion: undefined,
      flags: {},
    });
    expect(OSStreams.because).toBe('enabled by spec.customNoUpgrade of FeatureGate cluster');
  });
});

describe('parseFeatureGates', () => {
  it.each([
    ['', {}],
    ['PinnedImages=true', { PinnedImages: true }],
    [' PinnedImages=true , OSStreams=false ', { PinnedImages: true, OSStreams: false }],
  ])('reads %j', (text, settings) => {
    expect(parseFeatureGates(text)).toEqual({ ok: true, settings });
  });

  it.each([
    ['Pinned=true', 'Pinned: expected one of ManagedBootImages, OSStreams, PinnedImages'],
    ['PinnedImages', 'PinnedImages: expected PinnedImages=true or PinnedImages=false, found "PinnedImages"'],
    ['PinnedImages=yes', 'PinnedImages: expected PinnedImages=true or PinnedImages=false, found "PinnedImages=yes"'],
  ])('refuses %j and reports what it expected', (text, problem) => {
    expect(parseFeatureGates(text)).toEqual({ ok: false, problem });
  });
});
