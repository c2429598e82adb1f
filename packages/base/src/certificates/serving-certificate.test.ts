import { describe, expect, it } from 'vitest';
import { type KeptServing, nextServing, type ServingStep } from './serving-certificate.ts';
import { BACKDATED_MS } from './signature.ts';

const NOW = 1_000_000_000_000;
const policy = { validity: 1000, refresh: 600 };

const usable = (age: number, but: Partial<Record<string, boolean>> = {}): KeptServing => ({
  state: 'usable',
  validity: { from: NOW - age - BACKDATED_MS, to: NOW - age + 1000 },
  issuedByAuthority: true,
  namesHosts: true,
  hasIntermediates: true,
  ...but,
});

const table: [string, KeptServing, ServingStep][] = [
  ['none', { state: 'absent' }, { do: 'issue', why: 'absent' }],
  ['an unusable one', { state: 'unusable' }, { do: 'issue', why: 'unusable' }],
  ['a fresh one', usable(0), { do: 'keep', until: NOW + 600 }],
  ['one at its refresh', usable(600), { do: 'issue', why: 'age' }],
  ['one that becomes valid now', usable(-BACKDATED_MS), { do: 'keep', until: NOW + BACKDATED_MS + 600 }],
  ['one that is not valid yet', usable(-BACKDATED_MS - 1), { do: 'issue', why: 'clock' }],
  ['one that is not valid for a month', usable(-30 * 86_400_000), { do: 'issue', why: 'clock' }],
  ['one from an earlier CA', usable(0, { issuedByAuthority: false }), { do: 'issue', why: 'authority' }],
  ['one for other hosts', usable(0, { namesHosts: false }), { do: 'issue', why: 'hosts' }],
  ['one with other intermediates', usable(0, { hasIntermediates: false }), { do: 'rechain', why: 'intermediates' }],
  [
    'one with other intermediates at its refresh',
    usable(600, { hasIntermediates: false }),
    { do: 'issue', why: 'age' },
  ],
];

describe('nextServing', () => {
  it.each(table)('for %s', (_, kept, step) => {
    expect(nextServing(kept, NOW, policy)).toEqual(step);
  });
});
