import { describe, expect, it } from 'vitest';
import { compareUnit } from './compare-unit.ts';

const STATES = ['enabled', 'enabled-runtime', 'disabled', 'static', 'indirect', 'alias', 'generated', 'linked'];
const GONE = ['masked', 'masked-runtime', 'not-found'];

describe('a unit', () => {
  it.each([
    ['enabled', true, ['disabled', ...GONE]],
    ['disabled', false, ['enabled', 'enabled-runtime']],
    ['as the OS has it', null, []],
  ])('that is to be %s', (_, enabled, refused) => {
    const told = [...STATES, ...GONE].filter((enablement) => {
      const unit = { name: 'a.service', enabled, unmasked: false };
      return compareUnit(unit, { enablement, isMasked: false }).length > 0;
    });
    expect(told.sort()).toEqual([...refused].sort());
  });

  it.each([
    ['disabled', true],
    ['masked', true],
    ['masked-runtime', false],
    ['not-found', false],
  ])('that is %s can be enabled: %s', (enablement, canHeal) => {
    const unit = { name: 'a.service', enabled: true, unmasked: false };
    expect(compareUnit(unit, { enablement, isMasked: false })).toEqual([
      {
        kind: 'unit',
        name: 'a.service',
        canHeal,
        message: `unit a.service: expected it enabled, found it ${enablement}`,
      },
    ]);
  });

  it('that must not be masked is told as masked, and not as not enabled too', () => {
    const unit = { name: 'a.service', enabled: true, unmasked: true };
    expect(compareUnit(unit, { enablement: 'masked', isMasked: true })).toMatchObject([
      { message: 'unit a.service: expected it not to be masked, found it masked', canHeal: true },
    ]);
  });
});
