import { describe, expect, it } from 'vitest';
import { nearNames } from './near-names.ts';

const names = ['/etc/chrony.conf', '/etc/crio/crio.conf', 'crio.service', 'nosmt', '/etc/chrony.d/a.conf'];

describe('names close to the requested one', () => {
  it.each<[string, string[]]>([
    ['/etc/chroni.conf', ['/etc/chrony.conf']],
    ['chrony', ['/etc/chrony.conf', '/etc/chrony.d/a.conf']],
    ['crio.servce', ['crio.service']],
    ['nosmp', ['nosmt']],
    ['/var/lib/something', []],
  ])('%s: %j', (asked, expected) => {
    expect(nearNames(asked, names)).toEqual(expected);
  });
});
