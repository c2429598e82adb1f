import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, SPEC_VERSIONS, validate } from '../src/index.ts';
import { hasErrors } from '../src/report.ts';
import { specOf } from '../src/spec/index.ts';
import { configs, focusedConfigs, leafPaths } from './configs.ts';
import { isObject } from './tidy.ts';

// A differential test proves nothing about what its generator never makes. Always the same sample: a key is rare, not absent.
const SEED = 1;

describe.each(SPEC_VERSIONS)('generated configs of %s', (version) => {
  const expected = leafPaths(specOf(version)).map((path) => path.join('.'));

  it('have every key of the spec, mostly in valid configs', () => {
    const sample = fc.sample(configs(version), { seed: SEED, numRuns: 2000 });
    const valid = sample.map((config) => parse(JSON.stringify(config)).config);
    const used = valid.filter((config) => config !== null && !hasErrors(validate(config)));
    expect(used.length).toBeGreaterThan(sample.length / 2);
    expect([...keysOf(sample)]).toEqual(expect.arrayContaining(expected));
  });

  it('also have every key alone, at the edge of what is allowed', () => {
    const sample = fc.sample(focusedConfigs(version), { seed: SEED, numRuns: 4000 });
    expect([...keysOf(sample)]).toEqual(expect.arrayContaining(expected));
  });
});

function keysOf(value: unknown, path = '', found = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const item of value) keysOf(item, path, found);
  else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) keysOf(member, path === '' ? key : `${path}.${key}`, found);
  } else found.add(path);
  return found;
}
