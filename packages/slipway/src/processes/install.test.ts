import { kinds } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { planCrds } from './install.ts';

const actions = (existing: string[]): Record<string, string> =>
  Object.fromEntries(planCrds(kinds, new Set(existing)).map(({ name, action }) => [name, action]));

describe('planCrds', () => {
  it('applies our own CRDs, whether or not they exist', () => {
    const pools = 'machineconfigpools.machineconfiguration.openshift.io';
    expect(actions([])[pools]).toBe('apply');
    expect(actions([pools])[pools]).toBe('apply');
  });

  it('creates CRDs of the platform only if they are missing', () => {
    const gates = 'featuregates.config.openshift.io';
    expect(actions([])[gates]).toBe('create');
    expect(actions([gates])[gates]).toBe('leave');
  });

  it('never installs CRDs that only tests need', () => {
    expect(Object.keys(actions([]))).not.toContain('gcpmachinetemplates.infrastructure.cluster.x-k8s.io');
  });
});
