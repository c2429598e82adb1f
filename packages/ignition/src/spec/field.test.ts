import { describe, expect, it } from 'vitest';
import { SPEC_VERSIONS } from '../version.ts';
import { isZero, type Kind, getZeroValue } from './field.ts';
import { INTEGER_FIELDS, specOf } from './index.ts';

it('an empty value has no effect', () => {
  expect(['', 0, false, [], {}].map(isZero)).toEqual([true, true, true, true, true]);
  expect(['a', 1, true, [0], { a: 0 }, null, undefined].map(isZero)).toEqual(Array(7).fill(false));
});

describe.each(SPEC_VERSIONS)('the table of %s', (version) => {
  const spec = specOf(version);

  it('has only its version in an empty config', () => {
    expect(getZeroValue(spec)).toEqual({ ignition: { version } });
  });

  it('gives every object a name and a field', () => {
    const problems: string[] = [];
    const visit = (kind: Kind, path: string): void => {
      if (kind.type === 'list') visit(kind.item, `${path}[]`);
      if (kind.type !== 'object') return;
      if (kind.name === '' || kind.entries.length === 0) problems.push(path);
      for (const [name, field] of kind.entries) visit(field.kind, `${path}.${name}`);
    };
    visit(spec, '');
    expect(problems).toEqual([]);
  });
});

it('integer fields are known by name and depth, for the scan of JSON text', () => {
  expect(INTEGER_FIELDS.names).toContain('mode');
  expect(INTEGER_FIELDS.names).toContain('startMiB');
  expect(INTEGER_FIELDS.names).not.toContain('path');
  expect(INTEGER_FIELDS.depth).toBe('storage disks 0 partitions 0 number'.split(' ').length);
});
