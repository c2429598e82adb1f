import { describe, expect, it } from 'vitest';
import { addsMirrorsOnly } from './registries.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const registry = (location: string, more = '') => `[[registry]]\nlocation = "${location}"\n${more}\n`;
const mirror = (location: string, pull = 'digest-only') =>
  `[[registry.mirror]]\nlocation = "${location}"\n${pull === '' ? '' : `pull-from-mirror = "${pull}"\n`}`;
const search = (...names: string[]) => `unqualified-search-registries = ${JSON.stringify(names)}\n`;

const quay = registry('quay.io', mirror('m1'));

describe('only mirrors are added', () => {
  it.each([
    ['when nothing changes', quay, quay],
    ['when the text changes and not what it says', quay, `# a comment\n${quay}`],
    ['by one more mirror asked by digest', quay, quay + mirror('m2')],
    ['by one before the others', registry('quay.io', mirror('m1')), registry('quay.io', mirror('m0') + mirror('m1'))],
    [
      'by a mirror of a registry that asks all by digest',
      registry('q', 'mirror-by-digest-only = true'),
      registry('q', `mirror-by-digest-only = true\n${mirror('m', '')}`),
    ],
    ['by a registry with such mirrors', quay, quay + registry('docker.io', mirror('m2'))],
    ['to a file that has no registries', search('a'), search('a') + quay],
    ['when a mirror is from now on asked by digest only', registry('q', mirror('m', '')), registry('q', mirror('m'))],
    ['when one more is searched after the others', search('a'), search('a', 'b')],
  ])('%s', (_, before, after) => expect(addsMirrorsOnly(bytes(before), bytes(after))).toBe(true));
});

describe('more than mirrors changes', () => {
  it.each([
    ['by a mirror that is also asked by tag', quay, quay + mirror('m2', '')],
    ['when a mirror goes', quay + mirror('m2'), quay],
    ['when a mirror is asked by tag from now on', registry('q', mirror('m')), registry('q', mirror('m', 'all'))],
    ['when a registry goes', quay + registry('docker.io'), quay],
    ['by a registry with a mirror asked by tag', quay, quay + registry('docker.io', mirror('m2', 'tag-only'))],
    ['by a registry that is blocked', quay, quay + registry('docker.io', `blocked = true\n${mirror('m2')}`)],
    ['by a registry that leads elsewhere', quay, `${quay}[[registry]]\nprefix = "a.io"\nlocation = "b.io"\n`],
    ['by a registry inside another, whose mirrors it takes away', quay, quay + registry('quay.io/team', mirror('m2'))],
    ['when a registry becomes blocked', registry('q'), registry('q', 'blocked = true')],
    ['when a registry becomes insecure', registry('q'), registry('q', 'insecure = true')],
    ['when a registry asks by tag too', registry('q', 'mirror-by-digest-only = true'), registry('q')],
    ['when another registry is searched first', search('a', 'b'), search('b', 'a')],
    ['when one is no longer searched', search('a', 'b'), search('a')],
    ['by another setting', quay, `short-name-mode = "enforcing"\n${quay}`],
    ['when two registries speak of the same images', quay, quay + quay],
    ['when the new file is no TOML', quay, '[[registry'],
    [
      'by a mirror that is a list',
      registry('q', 'mirror-by-digest-only = true'),
      registry('q', 'mirror-by-digest-only = true\nmirror = [["m"]]'),
    ],
    ['when it has another shape than expected', quay, 'registry = "quay.io"\n'],
  ])('%s', (_, before, after) => expect(addsMirrorsOnly(bytes(before), bytes(after))).toBe(false));

  it.each([
    ['comes', null, bytes(quay)],
    ['goes', bytes(quay), null],
  ])('when the file %s: what the OS has instead is not known', (_, before, after) => {
    expect(addsMirrorsOnly(before, after)).toBe(false);
  });
});
