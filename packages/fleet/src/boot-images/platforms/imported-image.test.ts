import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isNamedByInstaller, nameWithVersion } from './imported-image.ts';
import { questionOf } from '../testing/image-cases.ts';

describe('the name of an image that a person imports', () => {
  it.each([
    ['demo-rhcos', '9.8.20260428-0', 'demo-rhcos-9.8.20260428-0'],
    ['demo-rhcos-9.6.20250523-0', '9.8.20260428-0', 'demo-rhcos-9.8.20260428-0'],
    ['demo-rhcos-418.94.202410090804-0', '9.8.20260428-0', 'demo-rhcos-9.8.20260428-0'],
    ['demo-rhcos-9-6-20250523-0', '9-8-20260428-0', 'demo-rhcos-9-8-20260428-0'],
    ['demo-rhcos-40.20240416.3.1', '41.20250101.3.0', 'demo-rhcos-41.20250101.3.0'],
    ['demo-rhcos-zone-1', '9.8.20260428-0', 'demo-rhcos-zone-1-9.8.20260428-0'],
    ['demo-rhcos-zone-1-9.8.20260428-0', '9.8.20260428-0', 'demo-rhcos-zone-1-9.8.20260428-0'],
  ])('%s becomes, with version %s, %s', (name, version, expected) => {
    expect(nameWithVersion(name, version, 80)).toBe(expected);
  });

  it('stays within the length that the platform allows, and is the same again', () => {
    const version = fc
      .tuple(fc.nat(20), fc.nat(20), fc.integer({ min: 20_200_101, max: 20_991_231 }), fc.nat(9))
      .map(([major, minor, day, build]) => `${major}.${minor}.${day}-${build}`);
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 100 }), version, version, (name, one, other) => {
        const named = nameWithVersion(name, one, 63);
        expect(named.length).toBeLessThanOrEqual(Math.max(63, name.length));
        expect(nameWithVersion(named, one, 63)).toBe(named);
        expect(nameWithVersion(nameWithVersion(named, other, 63), one, 63)).toHaveLength(named.length);
      }),
    );
  });
});

describe('a name is the installer’s', () => {
  const question = questionOf({ name: 'a' });

  it.each([
    ['demo-x7k2p-rhcos', true],
    ['demo-x7k2p-rhcos-fd1', true],
    ['demo-x7k2p-rhcos-9.8.20260428-0', true],
    ['demo-x7k2p-rhcosy', false],
    ['demo-x7k2p', false],
    ['other-demo-x7k2p-rhcos', false],
    ['golden', false],
  ])('%s: %s', (name, expected) => {
    expect(isNamedByInstaller(name, question)).toBe(expected);
  });

  it('never where the name of the cluster is not known', () => {
    expect(isNamedByInstaller('-rhcos', { ...question, infrastructureName: '' })).toBe(false);
  });
});
