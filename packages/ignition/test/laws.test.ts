import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AnyConfig,
  type ConfigOf,
  merge,
  parse,
  type SpecVersion,
  type SpecVersion3,
  translate,
  validate,
} from '../src/index.ts';
import { hasErrors } from '../src/report.ts';
import { specOf } from '../src/spec/index.ts';
import { SPEC_VERSIONS } from '../src/version.ts';
import { canonical } from './canonical.ts';
import { configs, type Json } from './configs.ts';
import { isObject } from './tidy.ts';

const RUNS = { numRuns: 300 };
const VERSIONS_3 = SPEC_VERSIONS.filter((version) => version.startsWith('3.')) as SpecVersion3[];

/** Valid configs of one version, read from generated JSON. */
function valid<V extends SpecVersion>(
  version: V,
  change: (config: Json) => Json = (config) => config,
): fc.Arbitrary<ConfigOf<V>> {
  return configs(version)
    .map((config) => parse(JSON.stringify(change(structuredClone(config)))).config)
    .filter((config): config is ConfigOf<V> & AnyConfig => config !== null && !hasErrors(validate(config)));
}

const text = (config: AnyConfig) => canonical(config, specOf(config.ignition.version));

function mergeAll<C extends ConfigOf<SpecVersion3>>(...list: C[]): C {
  return merge(list.map((config, index) => ({ name: `input ${index}`, config }))).config as C;
}

function buildEmptyConfig<V extends SpecVersion3>(version: V): ConfigOf<V> {
  return { ignition: { version } } as ConfigOf<V>;
}

describe('merge', () => {
  it.each(VERSIONS_3)('%s: an empty config changes nothing, before or after', (version) => {
    fc.assert(
      fc.property(valid(version), (config) => {
        expect(text(mergeAll(config))).toBe(text(config));
        expect(text(mergeAll(config, buildEmptyConfig(version)))).toBe(text(config));
        expect(text(mergeAll(buildEmptyConfig(version), config))).toBe(text(config));
      }),
      RUNS,
    );
  });

  it.each(VERSIONS_3)('%s: merging a config onto itself changes only lists that are concatenated', (version) => {
    fc.assert(
      fc.property(valid(version, withoutAccumulation), (config) => {
        expect(text(mergeAll(config, config))).toBe(text(config));
      }),
      RUNS,
    );
  });

  it.each(VERSIONS_3)(
    '%s: it does not matter which two neighbours are merged first, where nothing is taken away',
    (version) => {
      const config = valid(version, withoutRemoval);
      fc.assert(
        fc.property(config, config, config, (a, b, c) => {
          expect(text(mergeAll(a, mergeAll(b, c)))).toBe(text(mergeAll(mergeAll(a, b), c)));
        }),
        RUNS,
      );
    },
  );

  it('merging many together equals merging one after another', () => {
    fc.assert(
      fc.property(fc.array(valid('3.5.0'), { minLength: 2, maxLength: 5 }), (list) => {
        const folded = list.reduce((base, next) => mergeAll(base, next), buildEmptyConfig('3.5.0'));
        expect(text(mergeAll(...list))).toBe(text(folded));
      }),
      RUNS,
    );
  });

  it('does not change its inputs', () => {
    fc.assert(
      fc.property(valid('3.6.0'), valid('3.6.0'), (a, b) => {
        const before = JSON.stringify([a, b]);
        mergeAll(a, b);
        expect(JSON.stringify([a, b])).toBe(before);
      }),
      RUNS,
    );
  });

  it('records for every field of the result which input set it, and nothing else', () => {
    fc.assert(
      fc.property(fc.array(valid('3.5.0'), { minLength: 1, maxLength: 4 }), (list) => {
        const inputs = list.map((config, index) => ({ name: `input ${index}`, config }));
        const { config, provenance } = merge(inputs);
        expect([...provenance].map(([path]) => path).toSorted()).toEqual(leaves(config, '').toSorted());
        for (const [path, { from, overrode }] of provenance) {
          const names = [...overrode, from];
          expect({ path, names }).toEqual({ path, names: [...new Set(names)].toSorted() });
        }
      }),
      RUNS,
    );
  });
});

describe('translate', () => {
  const pairs = VERSIONS_3.flatMap((from) => VERSIONS_3.filter((to) => to > from).map((to) => ({ from, to })));

  it.each(pairs)('$from up to $to and down again is the same config, or an error', ({ from, to }) => {
    fc.assert(
      fc.property(valid(from, translatable), (config) => {
        expect([REFUSED, text(config)]).toContain(throughAndBack(config, to));
      }),
      { numRuns: 60 },
    );
  });

  it.each(VERSIONS_3)('%s: what a translation down accepts, translating up restores', (from) => {
    const config = valid(from, (json) => withoutDefaults(translatable(json)));
    fc.assert(
      fc.property(config, fc.constantFrom(...VERSIONS_3.filter((to) => to <= from)), (config, to) => {
        expect([REFUSED, text(config)]).toContain(throughAndBack(config, to));
      }),
      RUNS,
    );
  });
});

describe('parse', () => {
  it.each(SPEC_VERSIONS)('%s: reads its own output again without findings', (version) => {
    fc.assert(
      fc.property(valid(version), (config) => {
        expect(parse(JSON.stringify(config))).toEqual({ config, version, report: [] });
      }),
      RUNS,
    );
  });

  it('reads an object like its JSON', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SPEC_VERSIONS).chain(configs), (config) => {
        const json = JSON.stringify(config);
        const fromObject = parse(JSON.parse(json) as object);
        expect(fromObject.config).toEqual(parse(json).config);
        expect(fromObject.report.map(({ path, kind }) => `${kind} ${path}`)).toEqual(
          parse(json).report.map(({ path, kind }) => `${kind} ${path}`),
        );
      }),
      { numRuns: 2000 },
    );
  });
});

const REFUSED = 'refused, with an error that says why';

/** The config after a translation there and back, as text; a refusal without an error is a separate result. */
function throughAndBack(config: AnyConfig, to: SpecVersion): string {
  const there = translate(config, to);
  if (there.config === null) return hasErrors(there.report) ? REFUSED : 'refused without a word';
  const back = translate(there.config, config.ignition.version);
  if (back.config === null) return hasErrors(back.report) ? REFUSED : 'refused without a word';
  return text(back.config);
}

/** The paths of all leaves, in the format of provenance: an empty object or list is a leaf. */
function leaves(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => leaves(item, `${path}[${index}]`));
  if (!isObject(value) || Object.keys(value).length === 0) return [path];
  return Object.entries(value).flatMap(([key, member]) => leaves(member, path === '' ? key : `${path}.${key}`));
}

/** Changes every object of a config, from the outside in. */
function everywhere(value: unknown, change: (object: Json) => void): void {
  if (Array.isArray(value)) for (const item of value) everywhere(item, change);
  if (!isObject(value)) return;
  change(value);
  for (const member of Object.values(value)) everywhere(member, change);
}

/** Without what one config can remove from another: then merging is associative. */
function withoutRemoval(config: Json): Json {
  everywhere(config, (object) => {
    // A header without a value removes; a file displaces a link, a new source displaces the fields of the old one.
    for (const key of ['httpHeaders', 'links', 'directories', 'shouldNotExist', 'compression', 'verification'])
      delete object[key];
  });
  return config;
}

/** Without lists that have no key: those grow with each merge. A header without a value removes even itself. */
function withoutAccumulation(config: Json): Json {
  everywhere(config, (object) => {
    for (const key of ['append', 'options', 'mountOptions', 'httpHeaders']) delete object[key];
  });
  return config;
}

/** Without explicit defaults: a translation down to a spec that lacks the field omits them. */
function withoutDefaults(config: Json): Json {
  everywhere(config, (object) => {
    for (const key of ['discard', 'resize', 'enabled']) if (object[key] === false) delete object[key];
    if (object['shouldExist'] === true) delete object['shouldExist'];
    if (object['advertisement'] === '') delete object['advertisement'];
  });
  return config;
}

/**
 * Without what a translation up removes on purpose: setuid, setgid and sticky bits, which were not honoured before 3.6,
 * and an empty clevis, which only 3.2 distinguishes from none.
 */
function translatable(config: Json): Json {
  everywhere(config, (object) => {
    if (typeof object['mode'] === 'number') object['mode'] &= 0o777;
    if (isObject(object['clevis']) && isEmpty(object['clevis'])) delete object['clevis'];
  });
  return config;
}

/** Contains nothing that a spec without empty objects and lists would keep. */
function isEmpty(object: Json): boolean {
  return Object.values(object).every((value) => Array.isArray(value) && value.length === 0);
}
