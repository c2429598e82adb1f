import { describe, expect, it } from 'vitest';
import {
  decideUnitOrders,
  decideRollbackUnitOrders,
  selectUnitsToDisableFirst,
  selectUnitsToDisableOnRollback,
  computeMark,
  type UnitStep,
} from './steps.ts';

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
