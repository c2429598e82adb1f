import { describe, expect, it } from 'vitest';
import { type AuthorityStep, type KeptAuthority, nextAuthority } from './authority.ts';
import { BACKDATED_MS } from './signature.ts';

const NOW = 1_000_000_000_000;
const policy = { validity: 1000, refresh: 800 };

interface Usable {
  age: number;
  lives?: number;
  ends?: number[];
  untidy?: boolean;
}

/** A CA that was made `age` ago and was to live for `lives`. */
const usable = ({ age, lives = 1000, ends = [], untidy = false }: Usable): KeptAuthority => ({
  state: 'usable',
  validity: { from: NOW - age - BACKDATED_MS, to: NOW - age + lives },
  ends,
  untidy,
});

const table: [string, KeptAuthority, AuthorityStep][] = [
  ['none', { state: 'absent' }, { do: 'make', why: 'absent' }],
  ['one that cannot be used', { state: 'unusable' }, { do: 'make', why: 'unusable' }],
  ['one that has expired', usable({ age: 1000 }), { do: 'make', why: 'expired' }],
  ['a fresh one', usable({ age: 0 }), { do: 'keep', until: NOW + 800 }],
  ['one just before its refresh', usable({ age: 799 }), { do: 'keep', until: NOW + 1 }],
  ['one at its refresh', usable({ age: 800 }), { do: 'rotate' }],
  ['one long past its refresh', usable({ age: 999 }), { do: 'rotate' }],
  ['one made for a longer life', usable({ age: 800, lives: 9000 }), { do: 'rotate' }],
  ['one made for a shorter life', usable({ age: 0, lives: 200 }), { do: 'rotate' }],
  ['one with an older CA', usable({ age: 0, ends: [NOW + 300, NOW + 500] }), { do: 'keep', until: NOW + 300 }],
  ['one with an older CA that has expired', usable({ age: 0, ends: [NOW] }), { do: 'tidy' }],
  ['one in a form that is not ours', usable({ age: 0, untidy: true }), { do: 'tidy' }],
  ['one in a form that is not ours, at its refresh', usable({ age: 800, untidy: true }), { do: 'rotate' }],
];

describe('nextAuthority', () => {
  it.each(table)('of %s', (_, kept, step) => {
    expect(nextAuthority(kept, NOW, policy)).toEqual(step);
  });
});
