import { describe, expect, it } from 'vitest';
import { isSaidByUs, joinUpgradeable } from './join-upgradeable.ts';

const fine = { status: 'True', reason: 'AsExpected', message: '' } as const;
const held = { status: 'False', reason: 'DeprecatedOSStreamInUse', message: 'pool worker is on rhel-9' } as const;

describe('whether the cluster may be upgraded', () => {
  it.each([
    ['nothing holds it', fine, null, fine],
    ['streams hold it', held, null, held],
    ['boot images hold it', fine, 'too old', { status: 'False', reason: 'BootImageSkew', message: 'too old' }],
    [
      'both hold it: both are named',
      held,
      'too old',
      {
        status: 'False',
        reason: 'DeprecatedOSStreamInUse::BootImageSkew',
        message: 'pool worker is on rhel-9\ntoo old',
      },
    ],
  ] as const)('%s', (_, streams, skew, joined) => {
    expect(joinUpgradeable(streams, skew)).toEqual(joined);
  });

  it('a long finding does not hide the other', () => {
    const { message } = joinUpgradeable({ ...held, message: 's'.repeat(9000) }, 'k'.repeat(9000));
    expect(message.length).toBeLessThanOrEqual(4000);
    expect(message).toMatch(/^s+…\nk+…$/);
  });

  it.each([
    [undefined, false],
    ['AsExpected', false],
    ['PoolUpdating', false],
    ['BootImageSkew', true],
    ['DeprecatedOSStreamInUse', true],
    ['DeprecatedOSStreamInUse::BootImageSkew', true],
  ])('the reason %s is of ours: %s', (reason, isOurs) => {
    expect(isSaidByUs(reason)).toBe(isOurs);
  });
});
