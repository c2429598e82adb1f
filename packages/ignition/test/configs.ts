import * as fc from 'fast-check';
import type { Field, Kind, Shape } from '../src/spec/field.ts';
import { specOf } from '../src/spec/index.ts';
import type { SpecVersion } from '../src/version.ts';
import { tidy } from './tidy.ts';
import { selectValues } from './values.ts';

export type Json = Record<string, unknown>;

/** Percentage of values at the limits. */
type Oddness = 0 | 4 | 25;

/** Configs of one version with every key in its table: mostly valid, some near the limits, some far beyond. */
export function configs(version: SpecVersion): fc.Arbitrary<Json> {
  const made = cache.get(version);
  if (made !== undefined) return made;
  const spec = specOf(version);
  const careful = objects(spec, 0);
  const arbitrary = fc.oneof(
    { weight: 12, arbitrary: careful.map((config) => tidy(config, version)) },
    { weight: 3, arbitrary: careful },
    { weight: 3, arbitrary: objects(spec, 4).map((config) => tidy(config, version)) },
    { weight: 1, arbitrary: objects(spec, 4) },
    { weight: 1, arbitrary: objects(spec, 25) },
  );
  cache.set(version, arbitrary);
  return arbitrary;
}

const cache = new Map<SpecVersion, fc.Arbitrary<Json>>();

function objects(shape: Shape, oddness: Oddness): fc.Arbitrary<Json> {
  const members = shape.entries.map(([key, field]) => member(shape.name, key, field, oddness));
  return fc.tuple(...members).map((values) => {
    const made: Json = {};
    shape.entries.forEach(([key], index) => {
      if (values[index] !== undefined) made[key] = values[index];
    });
    return made;
  });
}

/** A required field is nearly always present; an optional one often is not, or no config would be small. */
function member(name: string, key: string, field: Field, oddness: Oddness): fc.Arbitrary<unknown> {
  const present = values(name, key, field.kind, oddness);
  if (field.kind.type === 'literal') return present;
  if (field.presence === 'always') return oddness === 0 ? present : fc.option(present, { freq: 40, nil: undefined });
  return fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 2, arbitrary: present });
}

function values(name: string, key: string, kind: Kind, oddness: Oddness): fc.Arbitrary<unknown> {
  switch (kind.type) {
    case 'literal':
      return fc.constant(kind.value);
    case 'list':
      return fc.array(values(name, key, kind.item, oddness), { maxLength: 3, minLength: oddness === 0 ? 1 : 0 });
    case 'object':
      return objects(kind, oddness);
    default: {
      const { good, odd } = selectValues(name, key, kind.type);
      return oddness === 0
        ? good
        : fc.oneof({ weight: 100 - oddness, arbitrary: good }, { weight: oddness, arbitrary: odd });
    }
  }
}

/** Small configs with one arbitrary field at or beyond its limits. */
export function focusedConfigs(version: SpecVersion): fc.Arbitrary<Json> {
  const made = focusedCache.get(version);
  if (made !== undefined) return made;
  const spec = specOf(version);
  const focused = fc.oneof(...leafPaths(spec).map((path) => focusedObject(spec, path)));
  const arbitrary = fc
    .tuple(focused, fc.boolean())
    .map(([config, tidied]) => (tidied ? tidy(structuredClone(config), version) : config));
  focusedCache.set(version, arbitrary);
  return arbitrary;
}

const focusedCache = new Map<SpecVersion, fc.Arbitrary<Json>>();

/** The paths of every scalar, and list of scalars, in the spec. */
export function leafPaths(shape: Shape): string[][] {
  return shape.entries.flatMap(([key, { kind }]) => {
    const inner = kind.type === 'list' ? kind.item : kind;
    if (inner.type === 'literal') return [];
    return inner.type === 'object' ? leafPaths(inner).map((path) => [key].concat(path)) : [[key]];
  });
}

/** Two configs for each value of each pool at each place of the spec: no limit is left to chance. */
export function* everyValue(version: SpecVersion): Generator<fc.Arbitrary<Json>> {
  const spec = specOf(version);
  for (const path of leafPaths(spec)) {
    for (const value of edgesAt(spec, path)) {
      const focused = focusedObject(spec, path, fc.constant(value));
      yield focused.map((config) => tidy(structuredClone(config), version));
      // Tidying would remove or repair the value under test.
      yield focused;
    }
  }
}

function edgesAt(shape: Shape, [key = '', ...rest]: readonly string[]): readonly unknown[] {
  const inner = innerKind(shape, key);
  return inner.type === 'object' ? edgesAt(inner, rest) : selectValues(shape.name, key, inner.type).each;
}

/** The object with the field at this path set to this value, or to any at the limits. */
function focusedObject(
  shape: Shape,
  [key = '', ...rest]: readonly string[],
  focus?: fc.Arbitrary<unknown>,
): fc.Arbitrary<Json> {
  const inner = innerKind(shape, key);
  const value =
    inner.type === 'object'
      ? focusedObject(inner, rest, focus)
      : (focus ?? selectValues(shape.name, key, inner.type).odd);
  const isList = shape.fields[key]?.kind.type === 'list';
  const member = isList ? fc.array(value, { minLength: 1, maxLength: focus === undefined ? 2 : 1 }) : value;
  // Neighbouring fields matter only in the object of the field under test; further out only required ones do.
  const beside = rest.length === 0 ? objects(shape, 0) : requiredFields(shape);
  return fc.tuple(beside, member).map(([object, found]) => Object.assign({}, object, { [key]: found }));
}

function innerKind(shape: Shape, key: string): Kind {
  const kind = shape.fields[key]?.kind;
  if (kind === undefined) throw new Error(`${shape.name} has no field ${key}`);
  return kind.type === 'list' ? kind.item : kind;
}

function requiredFields(shape: Shape): fc.Arbitrary<Json> {
  const entries = shape.entries.filter(([, field]) => field.presence === 'always');
  return objects({ ...shape, entries }, 0);
}
