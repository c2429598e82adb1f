import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, SPEC_VERSIONS, validate } from '../src/index.ts';
import { hasErrors } from '../src/report.ts';
import { specOf } from '../src/spec/index.ts';
import { configs, focusedConfigs, leafPaths } from './configs.ts';
import { isObject } from './tidy.ts';

// A differential test proves nothing about inputs that are never generated. A fixed sample: a key is rare, not absent.
const SEED = 1;

describe.each(SPEC_VERSIONS)('generated configs of %s', (version) => {
  const expected = leafPaths(specOf(version)).map((path) => path.join('.'));

  it('are mostly valid', () => {
    const sample = fc.sample(configs(version), { seed: SEED, numRuns: 500 });
    const valid = sample.map((config) => parse(JSON.stringify(config)).config);
    const used = valid.filter((config) => config !== null && !hasErrors(validate(config)));
    expect(used.length).toBeGreaterThan(sample.length / 2);
  });

  it('have every key of the spec', () => {
    expect(missingAfter(configs(version), expected, 2000)).toEqual([]);
  });

  it('also have every key alone, at the limits', () => {
    expect(missingAfter(focusedConfigs(version), expected, 4000)).toEqual([]);
  });
});

/** Keys that none of this many generated configs has. Stops as soon as there is none. */
function missingAfter(generated: fc.Arbitrary<unknown>, expected: readonly string[], most: number): string[] {
  const batch = 250;
  const missing = new Set(expected);
  for (let made = 0; made < most && missing.size > 0; made += batch) {
    for (const key of collectKeys(fc.sample(generated, { seed: SEED + made, numRuns: batch }))) missing.delete(key);
  }
  return [...missing];
}

function collectKeys(value: unknown, path = '', found = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const item of value) collectKeys(item, path, found);
  else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) collectKeys(member, path === '' ? key : `${path}.${key}`, found);
  } else found.add(path);
  return found;
}
