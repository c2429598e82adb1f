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

/** A CA that was created `age` ago with the validity `lives`. */
const usable = ({ age, lives = 1000, ends = [], untidy = false }: Usable): KeptAuthority => ({
  state: 'usable',
  validity: { from: NOW - age - BACKDATED_MS, to: NOW - age + lives },
  ends,
  untidy,
});

const table: [string, KeptAuthority, AuthorityStep][] = [
  ['none', { state: 'absent' }, { do: 'make', why: 'absent' }],
  ['an unusable one', { state: 'unusable' }, { do: 'make', why: 'unusable' }],
  ['an expired one', usable({ age: 1000 }), { do: 'make', why: 'expired' }],
  ['a fresh one', usable({ age: 0 }), { do: 'keep', until: NOW + 800 }],
  ['one just before its refresh', usable({ age: 799 }), { do: 'keep', until: NOW + 1 }],
  ['one at its refresh', usable({ age: 800 }), { do: 'rotate' }],
  ['one long past its refresh', usable({ age: 999 }), { do: 'rotate' }],
  ['one with a longer validity', usable({ age: 800, lives: 9000 }), { do: 'rotate' }],
  ['one with a shorter validity', usable({ age: 0, lives: 200 }), { do: 'rotate' }],
  ['one that becomes valid now', usable({ age: -BACKDATED_MS }), { do: 'keep', until: NOW + BACKDATED_MS + 800 }],
  ['one that is not valid yet', usable({ age: -BACKDATED_MS - 1 }), { do: 'rotate' }],
  ['one that is not valid for a month', usable({ age: -30 * 86_400_000 }), { do: 'rotate' }],
  ['one with an older CA', usable({ age: 0, ends: [NOW + 300, NOW + 500] }), { do: 'keep', until: NOW + 300 }],
  ['one with an expired older CA', usable({ age: 0, ends: [NOW] }), { do: 'tidy' }],
  ['one in a non-canonical form', usable({ age: 0, untidy: true }), { do: 'tidy' }],
  ['one in a non-canonical form, at its refresh', usable({ age: 800, untidy: true }), { do: 'rotate' }],
];

describe('nextAuthority', () => {
  it.each(table)('for %s', (_, kept, step) => {
    expect(nextAuthority(kept, NOW, policy)).toEqual(step);
  });
});
