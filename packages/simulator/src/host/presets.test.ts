import { describe, expect, it } from 'vitest';
import { evaluatePresets, parsePresetRules } from './presets.ts';

// systemd.e2e.test.ts compares this with systemd 252; `ignore` is newer.
const rules = parsePresetRules(`
# a comment
enable a.service
disable a.service
ignore kept.*
enable t@.service one two
disable [!x]?.service
enable b+c.service
nonsense z.service
disable *
`);

describe('a preset', () => {
  it.each([
    ['a.service', 'enable', ['a.service']],
    ['kept.socket', 'ignore', ['kept.socket']],
    ['t@.service', 'enable', ['t@one.service', 't@two.service']],
    ['t@one.service', 'enable', ['t@one.service']],
    ['t@three.service', 'disable', ['t@three.service']],
    ['yz.service', 'disable', ['yz.service']],
    ['b+c.service', 'enable', ['b+c.service']],
    ['z.service', 'disable', ['z.service']],
  ])('of %s: %s', (unit, action, units) => {
    expect(evaluatePresets(rules, unit)).toEqual({ action, units });
  });

  it('without a rule for a unit enables it', () => {
    expect(evaluatePresets([], 'a.service')).toEqual({ action: 'enable', units: ['a.service'] });
  });
});
