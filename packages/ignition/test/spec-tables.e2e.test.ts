import { Oracle } from '@slipway/tools/ignition-oracle';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Field, Shape } from '../src/spec/field.ts';
import { specOf } from '../src/spec/index.ts';
import { SPEC_VERSIONS } from '../src/version.ts';

let oracle: Oracle;
let theirs: Record<string, Record<string, string>>;

beforeAll(async () => {
  oracle = await Oracle.start();
  const { result } = await oracle.ask({ op: 'schema' });
  theirs = result as typeof theirs;
}, 300_000);

afterAll(() => oracle.close());

describe('the tables of the spec versions', () => {
  it.each(SPEC_VERSIONS)('%s has every field of the Go types, of the same type, and no other', (version) => {
    const ours: Record<string, string> = { '': 'object' };
    describeFields('', specOf(version), ours);
    expect(ours).toEqual(theirs[version]);
  });
});

/** Formats the table like the oracle's Go types: path → type, with a question mark if absence differs from zero. */
function describeFields(path: string, shape: Shape, fields: Record<string, string>): void {
  for (const [key, field] of shape.entries) describeField(path === '' ? key : `${path}.${key}`, field, fields);
}

function describeField(path: string, { kind, presence }: Field, fields: Record<string, string>): void {
  const isList = kind.type === 'list';
  const inner = isList ? kind.item : kind;
  const place = isList ? `${path}[]` : path;
  const optional = presence === 'ifset' ? '?' : '';
  fields[place] = `${inner.type === 'literal' ? 'string' : inner.type}${optional}`;
  if (inner.type === 'object') describeFields(place, inner, fields);
}
