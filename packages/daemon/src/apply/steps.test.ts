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

describe('what an update asks of the OS, and what its rollback asks', () => {
  it.each<[string, Spec, Spec, object | null, object | null]>([
    ['the same config: nothing', { osImageURL: 'os@1' }, { osImageURL: 'os@1' }, null, null],
    ['another image', { osImageURL: 'os@1' }, { osImageURL: 'os@2' }, { image: 'os@2' }, { image: 'os@1' }],
    ['no image any more: the machine keeps the one it has', { osImageURL: 'os@1' }, {}, null, { image: 'os@1' }],
    [
      'kernel arguments, back in their order',
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
      'extensions: all that are wanted in the end, and where they come from',
      { extensions: ['usbguard'], baseOSExtensionsContainerImage: 'ext@1' },
      { extensions: ['usbguard', 'ipsec'], baseOSExtensionsContainerImage: 'ext@1' },
      { extensions: { before: ['usbguard'], after: ['usbguard', 'ipsec'] }, extensionsImage: 'ext@1' },
      { extensions: { before: ['usbguard', 'ipsec'], after: ['usbguard'] }, extensionsImage: 'ext@1' },
    ],
    [
      'another kernel comes from the extensions image, and goes with it',
      { baseOSExtensionsContainerImage: 'ext@1' },
      { kernelType: 'realtime', baseOSExtensionsContainerImage: 'ext@1' },
      { kernelType: { before: 'default', after: 'realtime' }, extensionsImage: 'ext@1' },
      { kernelType: { before: 'realtime', after: 'default' }, extensionsImage: 'ext@1' },
    ],
    [
      'another extensions image: nothing where nothing comes from it',
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

it('the same packages from another extensions image make another deployment of the OS', () => {
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

/** What happens to the one unit, there and back: `first → then`. */
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
      'that is rewritten and enabled loses the links of its old [Install] first',
      { before: 'enabled', after: 'enabled' },
      'disable, enable',
      'disable, enable',
    ],
    [
      'that is enabled from now on, with the same file, is only enabled, and disabled on the way back',
      { rewritten: false, was: 'disabled', before: 'disabled', after: 'enabled' },
      'enable',
      'disable',
    ],
    [
      'that is disabled from now on is enabled again on the way back',
      { rewritten: false, before: 'enabled', after: 'disabled' },
      'disable',
      'enable',
    ],
    [
      'that is new and of which the config says no more is as the OS presets it',
      { was: 'not-found' },
      'preset',
      'disable, disable',
    ],
    [
      'of which the config has no say any more is as the OS presets it',
      { rewritten: false, before: 'enabled', after: 'preset' },
      'preset',
      'enable',
    ],
    ['that somebody else enabled, and that gets a drop-in, stays enabled', {}, 'disable, enable', 'disable, enable'],
    [
      'that somebody else disabled, and that gets a drop-in, stays disabled',
      { was: 'disabled' },
      '',
      'disable, disable',
    ],
    [
      'that is masked from now on is not enabled, though the config says so',
      { before: 'enabled', after: 'enabled', masked: true },
      'disable',
      'disable, enable',
    ],
    ['that was masked and no longer is: as the OS presets it', { was: 'masked' }, 'preset', 'disable, disable'],
    ['whose links are not made by enabling keeps them', { was: 'indirect' }, '', ''],
  ])('%s', (_, changes, there, back) => {
    expect(listOrders(changes)).toEqual([there, back]);
  });
});
