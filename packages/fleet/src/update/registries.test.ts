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
    ['when the text changes but not its meaning', quay, `# a comment\n${quay}`],
    ['by one more digest mirror', quay, quay + mirror('m2')],
    ['by one before the others', registry('quay.io', mirror('m1')), registry('quay.io', mirror('m0') + mirror('m1'))],
    [
      'by a mirror of a registry with digest mirrors only',
      registry('q', 'mirror-by-digest-only = true'),
      registry('q', `mirror-by-digest-only = true\n${mirror('m', '')}`),
    ],
    ['by a registry with such mirrors', quay, quay + registry('docker.io', mirror('m2'))],
    ['to a file that has no registries', search('a'), search('a') + quay],
    ['when a mirror becomes a digest mirror', registry('q', mirror('m', '')), registry('q', mirror('m'))],
    ['when one more registry is searched last', search('a'), search('a', 'b')],
  ])('%s', (_, before, after) => expect(addsMirrorsOnly(bytes(before), bytes(after))).toBe(true));
});

describe('more than mirrors changes', () => {
  it.each([
    ['by a mirror that also serves tags', quay, quay + mirror('m2', '')],
    ['when a mirror is removed', quay + mirror('m2'), quay],
    ['when a mirror starts to serve tags', registry('q', mirror('m')), registry('q', mirror('m', 'all'))],
    ['when a registry is removed', quay + registry('docker.io'), quay],
    ['by a registry with a tag mirror', quay, quay + registry('docker.io', mirror('m2', 'tag-only'))],
    ['by a registry that is blocked', quay, quay + registry('docker.io', `blocked = true\n${mirror('m2')}`)],
    ['by a registry that redirects elsewhere', quay, `${quay}[[registry]]\nprefix = "a.io"\nlocation = "b.io"\n`],
    [
      'by a registry inside another, which bypasses the mirrors of the other',
      quay,
      quay + registry('quay.io/team', mirror('m2')),
    ],
    ['when a registry becomes blocked', registry('q'), registry('q', 'blocked = true')],
    ['when a registry becomes insecure', registry('q'), registry('q', 'insecure = true')],
    ['when the mirrors of a registry also serve tags', registry('q', 'mirror-by-digest-only = true'), registry('q')],
    ['when another registry is searched first', search('a', 'b'), search('b', 'a')],
    ['when one is no longer searched', search('a', 'b'), search('a')],
    ['by another setting', quay, `short-name-mode = "enforcing"\n${quay}`],
    ['when two registries have the same scope', quay, quay + quay],
    ['when the new file is not TOML', quay, '[[registry'],
    [
      'by a mirror that is a list',
      registry('q', 'mirror-by-digest-only = true'),
      registry('q', 'mirror-by-digest-only = true\nmirror = [["m"]]'),
    ],
    ['when it has an unexpected structure', quay, 'registry = "quay.io"\n'],
  ])('%s', (_, before, after) => expect(addsMirrorsOnly(bytes(before), bytes(after))).toBe(false));

  it.each([
    ['comes', null, bytes(quay)],
    ['goes', bytes(quay), null],
  ])('when the file %s: that of the OS is not known', (_, before, after) => {
    expect(addsMirrorsOnly(before, after)).toBe(false);
  });
});
