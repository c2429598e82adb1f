import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareBootVersions, isBelowLimit, findOldestVersion, osMajor, parseBootVersion } from './boot-version.ts';

describe('a version of a boot image', () => {
  it.each<[string, readonly number[] | null, readonly number[], boolean]>([
    ['418.94.202410090804-0', [4, 18], [9, 4], false],
    ['413.92.202305231734-0', [4, 13], [9, 2], false],
    ['412.86.202212170457-0', [4, 12], [8, 6], true],
    ['49.84.202110081407-0', [4, 9], [8, 4], true],
    ['46.82.202010011740-0', [4, 6], [8, 2], true],
    ['410.8.20190520.0', [4, 10], [9, 8], true],
    ['419.6.20250523', [4, 19], [9, 6], false],
    ['413.92.2023101700', [4, 13], [9, 2], false],
    ['9.6.20251023-0', null, [9, 6], false],
    ['9.2.20240101-0', null, [9, 2], false],
    ['9.0.20230101-0', null, [9, 0], true],
    ['10.2.20260428-0', null, [10, 2], false],
    ['4.18.2026012111', [4, 18], [9, 4], false],
    ['4.12.2023012111', [4, 12], [8, 6], true],
    ['4.22.0', [4, 22], [9, 6], false],
    ['4.22.0-rc.1', [4, 22], [9, 6], false],
    ['4.13.0', [4, 13], [9, 2], false],
    ['4.12.99', [4, 12], [8, 6], true],
    ['5.0.0', [5, 0], [10, 0], false],
    ['0.0.0', [0, 0], [0, 0], true],
  ])('%s: release %j, OS %j, too old: %s', (text, ocp, rhel, isOld) => {
    const version = parseBootVersion(text);
    expect(version).toMatchObject({ ocp, rhel });
    expect(version === null || isBelowLimit(version)).toBe(isOld);
  });

  it.each([
    '',
    'unknown',
    '9.6',
    '9.6.0',
    '418.94',
    '418.94.1',
    'v4.22.0',
    '4.22.x',
    '42.20250101.3.0',
    '4.22.0 ',
    '9'.repeat(99),
  ])('is not %j', (text) => {
    expect(parseBootVersion(text)).toBeNull();
  });

  it('is older by OS, then by day, in whatever form', () => {
    const oldestFirst = [
      '412.86.202212170457-0',
      '413.92.202305231734-0',
      '9.2.20240101-0',
      '418.94.202410090804-0',
      '4.18.2026012111',
      '9.6.20251023-0',
      '9.8.20260428-0',
      '10.2.20260428-0',
    ];
    const parsed = oldestFirst.flatMap((text) => parseBootVersion(text) ?? []);
    expect(
      parsed
        .toReversed()
        .toSorted(compareBootVersions)
        .map(({ text }) => text),
    ).toEqual(oldestFirst);
    expect(findOldestVersion(parsed.toReversed())?.text).toBe(oldestFirst[0]);
    expect(findOldestVersion([])).toBeUndefined();
  });
});

it('law: the order is total: the oldest does not depend on the input order', () => {
  const part = fc.integer({ min: 0, max: 99 });
  const date = fc.integer({ min: 20_190_101, max: 20_291_231 });
  const text = fc.oneof(
    fc.tuple(part, date).map(([minor, day]) => `9.${minor}.${day}-0`),
    fc.tuple(fc.integer({ min: 10, max: 30 }), date).map(([minor, day]) => `4${minor}.94.${day}-0`),
    fc.tuple(part, date).map(([minor, day]) => `4.${minor}.${day}`),
  );
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 8 }), (texts) => {
      const versions = texts.flatMap((each) => parseBootVersion(each) ?? []);
      const [one, other] = [findOldestVersion(versions), findOldestVersion(versions.toReversed())];
      expect(one !== undefined && other !== undefined && compareBootVersions(one, other) === 0).toBe(true);
      for (const each of versions)
        expect(one === undefined ? 1 : compareBootVersions(one, each)).toBeLessThanOrEqual(0);
    }),
  );
});

it.each([
  ['9.8.20260428-0', 9],
  ['10.2.20260423-0', 10],
  ['9.6.2026030314', 9],
  ['418.94.202410090804-0', 9],
  ['412.86.202301061548-0', 8],
  ['48.84.202109241901-0', 8],
  ['419.6.20250523', 9],
  ['4.18.2026012111', 9],
  ['4.8.2021122100', 8],
  ['40.20240416.3.1', null],
  ['latest', null],
  ['', null],
])('an image of version %s has OS %s', (version, major) => {
  expect(osMajor(version)).toBe(major);
});
