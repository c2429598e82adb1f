import { describe, expect, it } from 'vitest';
import { afterwards, asBefore, disabledFirst, disabledOnTheWayBack, type UnitStep } from './units.ts';

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
function told(changes: Partial<UnitStep>): [there: string, back: string] {
  const steps = [step(changes)];
  const way = (first: readonly string[], then: ReturnType<typeof afterwards>) =>
    [
      ...first.map(() => 'disable'),
      ...(['enable', 'disable', 'preset'] as const).filter((each) => then[each].length > 0),
    ].join(', ');
  return [way(disabledFirst(steps), afterwards(steps)), way(disabledOnTheWayBack(steps), asBefore(steps))];
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
    expect(told(changes)).toEqual([there, back]);
  });
});
