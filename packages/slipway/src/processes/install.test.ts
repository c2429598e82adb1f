import { kinds } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { planCrds } from './install.ts';

const actions = (existing: string[]): Record<string, string> =>
  Object.fromEntries(planCrds(kinds, new Set(existing)).map(({ name, action }) => [name, action]));

describe('planCrds', () => {
  it('brings our own up to date, there or not', () => {
    const pools = 'machineconfigpools.machineconfiguration.openshift.io';
    expect(actions([])[pools]).toBe('apply');
    expect(actions([pools])[pools]).toBe('apply');
  });

  it('makes what the platform brings only where it is absent', () => {
    const gates = 'featuregates.config.openshift.io';
    expect(actions([])[gates]).toBe('create');
    expect(actions([gates])[gates]).toBe('leave');
  });

  it('never installs what only tests need', () => {
    expect(Object.keys(actions([]))).not.toContain('gcpmachinetemplates.infrastructure.cluster.x-k8s.io');
  });
});
