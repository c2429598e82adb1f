import { builtInLabel, generatedByAnnotation, ROLE_LABEL } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { missingPools } from '../pool-membership.ts';
import { type LabelledMachineConfig, type SelectingPool, unselectedMachineConfigs } from './unselected.ts';

const infra: SelectingPool = {
  metadata: { name: 'infra' },
  spec: {
    machineConfigSelector: { matchExpressions: [{ key: ROLE_LABEL, operator: 'In', values: ['worker', 'infra'] }] },
  },
};
const strict: SelectingPool = {
  metadata: { name: 'edge' },
  spec: { machineConfigSelector: { matchLabels: { [ROLE_LABEL]: 'edge', tier: 'far' } } },
};
const pools = [...missingPools([]), infra, strict];

const labelled = (labels: Record<string, string>, annotations?: Record<string, string>): LabelledMachineConfig => ({
  metadata: { name: '99-x', labels, ...(annotations !== undefined && { annotations }) },
});
const ofRole = (role: string) => labelled({ [ROLE_LABEL]: role });

const messageFor = (machineConfig: LabelledMachineConfig) =>
  unselectedMachineConfigs([machineConfig], pools).map(({ message }) => message);

const ROLE_FIELD = `metadata.labels["${ROLE_LABEL}"]`;
const start = (field: string) =>
  `MachineConfig 99-x, ${field}: no pool selects this MachineConfig, so no machine gets it; `;
const expectedRole = 'a role that a pool selects (edge, infra, master, worker)';

describe('a MachineConfig that no pool selects', () => {
  it.each<[string, LabelledMachineConfig, string]>([
    [
      'has a misspelt role: the nearest is named',
      ofRole('workers'),
      `${start(ROLE_FIELD)}expected ${expectedRole}, found "workers". Did you mean worker?`,
    ],
    [
      'has a role that no pool has',
      ofRole('storage'),
      `${start(ROLE_FIELD)}expected ${expectedRole}, found "storage". Correct the role, or create a MachineConfigPool that selects it`,
    ],
    [
      'has no label',
      { metadata: { name: '99-x' } },
      `${start('metadata.labels')}expected the label ${ROLE_LABEL} with ${expectedRole}, found no labels`,
    ],
    [
      'has other labels only',
      labelled({ app: 'x', tier: 'far' }),
      `${start('metadata.labels')}expected the label ${ROLE_LABEL} with ${expectedRole}, found only the labels app, tier`,
    ],
    [
      'has a misspelt label',
      labelled({ 'machineconfiguration.openshift.io/roles': 'worker' }),
      `${start('metadata.labels')}expected the label ${ROLE_LABEL} with ${expectedRole}, found only the labels machineconfiguration.openshift.io/roles. Did you mean ${ROLE_LABEL}: worker?`,
    ],
    [
      'has the label of Nodes',
      labelled({ 'node-role.kubernetes.io/master': '' }),
      `${start('metadata.labels')}expected the label ${ROLE_LABEL} with ${expectedRole}, found only the labels node-role.kubernetes.io/master. Did you mean ${ROLE_LABEL}: master?`,
    ],
    [
      'has its role as an annotation',
      labelled({}, { [ROLE_LABEL]: 'worker' }),
      `${start(`metadata.annotations["${ROLE_LABEL}"]`)}the role must be a label, and is an annotation: move it to ${ROLE_FIELD}`,
    ],
    [
      'has a role whose pool requires more',
      ofRole('edge'),
      `${start('metadata.labels')}the pools of role edge require other labels as well: compare with their spec.machineConfigSelector`,
    ],
  ])('%s', (_, machineConfig, message) => {
    expect(messageFor(machineConfig)).toEqual([message]);
  });

  it('is a warning, with a code', () => {
    expect(unselectedMachineConfigs([ofRole('workers')], pools)).toMatchObject([
      { severity: 'warning', code: 'SLW_RENDER_UNSELECTED', object: 'MachineConfig 99-x', field: ROLE_FIELD },
    ]);
  });

  it('is reported if the only pool that selects it has a selector that cannot be used', () => {
    const all: SelectingPool = { metadata: { name: 'all' }, spec: { machineConfigSelector: {} } };
    expect(unselectedMachineConfigs([ofRole('worker')], [all])).toMatchObject([
      { message: expect.stringContaining('expected a role that a pool selects (none), found "worker"') },
    ]);
  });
});

describe('nothing is reported about a MachineConfig', () => {
  it.each<[string, LabelledMachineConfig]>([
    ['that a default pool selects', ofRole('master')],
    ['that a custom pool selects', ofRole('infra')],
    ['that is rendered', { metadata: { name: 'rendered-worker-0123456789abcdef0123456789abcdef' } }],
    ['that Slipway ships', labelled({ [ROLE_LABEL]: 'arbiter', [builtInLabel]: '' })],
    ['that another controller generated', labelled({ [ROLE_LABEL]: 'x' }, { [generatedByAnnotation]: '4.20.1' })],
  ])('%s', (_, machineConfig) => {
    expect(messageFor(machineConfig)).toEqual([]);
  });
});
