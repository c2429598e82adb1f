import { planUpdate, computeRollback } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import type { StoredConfig } from '../stored-config.ts';
import {
  decideUnitOrders,
  decideRollbackUnitOrders,
  selectUnitsToDisableFirst,
  selectUnitsToDisableOnRollback,
  computeMark,
  computeOSChange,
  type UnitStep,
} from './steps.ts';

type Spec = StoredConfig['spec'];

async function both(from: Spec, to: Spec) {
  const { changes } = await planUpdate({ current: { name: 'a', spec: from }, desired: { name: 'b', spec: to } });
  return { there: computeOSChange(changes, from, to), back: computeOSChange(computeRollback({ changes }), to, from) };
}

describe('the OS change of an update, and of its rollback', () => {
  it.each<[string, Spec, Spec, object | null, object | null]>([
    ['the same config: nothing', { osImageURL: 'os@1' }, { osImageURL: 'os@1' }, null, null],
    ['another image', { osImageURL: 'os@1' }, { osImageURL: 'os@2' }, { image: 'os@2' }, { image: 'os@1' }],
    ['no image: the machine keeps its current one', { osImageURL: 'os@1' }, {}, null, { image: 'os@1' }],
    [
      'kernel arguments, restored in order',
      { kernelArguments: ['a', 'b', 'c'] },
      { kernelArguments: ['a', 'd'] },
      {
        kernelArguments: {
          removed: ['b', 'c'],
          added: ['d'],
          all: { before: ['a', 'b', 'c'], after: ['a', 'd'] },
        },
      },
      {
        kernelArguments: {
          removed: ['d'],
          added: ['b', 'c'],
          all: { before: ['a', 'd'], after: ['a', 'b', 'c'] },
        },
      },
    ],
    [
      'extensions: the complete list, and their source',
      { extensions: ['usbguard'], baseOSExtensionsContainerImage: 'ext@1' },
      { extensions: ['usbguard', 'ipsec'], baseOSExtensionsContainerImage: 'ext@1' },
      { extensions: { before: ['usbguard'], after: ['usbguard', 'ipsec'] }, extensionsImage: 'ext@1' },
      { extensions: { before: ['usbguard', 'ipsec'], after: ['usbguard'] }, extensionsImage: 'ext@1' },
    ],
    [
      'another kernel from the extensions image, and its removal',
      { baseOSExtensionsContainerImage: 'ext@1' },
      { kernelType: 'realtime', baseOSExtensionsContainerImage: 'ext@1' },
      { kernelType: { before: 'default', after: 'realtime' }, extensionsImage: 'ext@1' },
      { kernelType: { before: 'realtime', after: 'default' }, extensionsImage: 'ext@1' },
    ],
    [
      'another extensions image: nothing if no packages come from it',
      { baseOSExtensionsContainerImage: 'ext@1' },
      { baseOSExtensionsContainerImage: 'ext@2' },
      null,
      null,
    ],
    [
      'another extensions image, and packages from it',
      { extensions: ['ipsec'], baseOSExtensionsContainerImage: 'ext@1' },
      { extensions: ['ipsec'], baseOSExtensionsContainerImage: 'ext@2' },
      { extensions: { before: ['ipsec'], after: ['ipsec'] }, extensionsImage: 'ext@2' },
      { extensions: { before: ['ipsec'], after: ['ipsec'] }, extensionsImage: 'ext@1' },
    ],
  ])('%s', async (_, from, to, there, back) => {
    expect(await both(from, to)).toEqual({ there, back });
  });
});

it('the same packages from another extensions image are another deployment', () => {
  const deployment = { image: 'os@1', digest: '', version: '9.6', kernelArguments: [], packages: ['libreswan'] };
  expect(computeMark({ ...deployment, checksum: 'one' })).not.toBe(computeMark({ ...deployment, checksum: 'two' }));
});

const step = (changes: Partial<UnitStep>): UnitStep => ({
  unit: 'a.service',
  rewritten: true,
  was: 'enabled',
  before: 'preset',
  after: 'preset',
  masked: false,
  ...changes,
});

/** What happens to the unit, forward and back: `first → then`. */
function listOrders(changes: Partial<UnitStep>): [there: string, back: string] {
  const steps = [step(changes)];
  const way = (first: readonly string[], then: ReturnType<typeof decideUnitOrders>) =>
    [
      ...first.map(() => 'disable'),
      ...(['enable', 'disable', 'preset'] as const).filter((each) => then[each].length > 0),
    ].join(', ');
  return [
    way(selectUnitsToDisableFirst(steps), decideUnitOrders(steps)),
    way(selectUnitsToDisableOnRollback(steps), decideRollbackUnitOrders(steps)),
  ];
}

describe('a unit in an update', () => {
  it.each<[string, Partial<UnitStep>, string, string]>([
    [
      'that is rewritten and enabled loses the links of its old [Install] section first',
      { before: 'enabled', after: 'enabled' },
      'disable, enable',
      'disable, enable',
    ],
    [
      'that becomes enabled, with the same file, is only enabled, and disabled in a rollback',
      { rewritten: false, was: 'disabled', before: 'disabled', after: 'enabled' },
      'enable',
      'disable',
    ],
    [
      'that becomes disabled is enabled again in a rollback',
      { rewritten: false, before: 'enabled', after: 'disabled' },
      'disable',
      'enable',
    ],
    [
      'that is new and otherwise unspecified follows the preset of the OS',
      { was: 'not-found' },
      'preset',
      'disable, disable',
    ],
    [
      'that the config no longer specifies follows the preset of the OS',
      { rewritten: false, before: 'enabled', after: 'preset' },
      'preset',
      'enable',
    ],
    ['that an administrator enabled, and that gets a drop-in, stays enabled', {}, 'disable, enable', 'disable, enable'],
    [
      'that an administrator disabled, and that gets a drop-in, stays disabled',
      { was: 'disabled' },
      '',
      'disable, disable',
    ],
    [
      'that becomes masked is not enabled, although the config enables it',
      { before: 'enabled', after: 'enabled', masked: true },
      'disable',
      'disable, enable',
    ],
    ['that is no longer masked follows the preset of the OS', { was: 'masked' }, 'preset', 'disable, disable'],
    ['whose links are not created by enabling keeps them', { was: 'indirect' }, '', ''],
  ])('%s', (_, changes, there, back) => {
    expect(listOrders(changes)).toEqual([there, back]);
  });
});
