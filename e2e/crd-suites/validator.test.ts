import { join } from 'node:path';
import { formatCrdName, kinds, validate, type Kind } from '@slipway/api';
import { describe, expect, it } from 'vitest';
import { objectDifferences } from './difference.ts';
import { readExpectation, loadSuites, type SuiteObject } from './suite.ts';

// The cases that kube-apiserver answers in suites.e2e.test.ts, put to our own validator.
const suites = await loadSuites(join(import.meta.dirname, 'cases'));

/** Rules for which we would need a parser of addresses, or one of CEL: they are left to the server. */
const onlyTheServerKnows = new Set([
  'two addresses of one family are refused',
  'an address must be one',
  'a network must be one',
  'a vCenter has a valid address',
  'the marketplace needs the lifecycle manager',
]);

function kindNamed(crdName: string): Kind {
  const kind = kinds.find((candidate) => formatCrdName(candidate) === crdName);
  if (kind === undefined) throw new Error(`${crdName} is none of our kinds`);
  return kind;
}

const named = (object: SuiteObject): SuiteObject => ({ ...object, metadata: { name: 'test', ...object.metadata } });

it('every kind has cases', () => {
  const covered = new Set(suites.map(({ crdName }) => crdName));
  expect(kinds.map(formatCrdName).filter((name) => !covered.has(name))).toStrictEqual([]);
});

describe.each(suites)('$file', ({ crdName, cases }) => {
  const kind = kindNamed(crdName);
  // What was stored under an earlier schema may stay, which only the server can know.
  const accepted = cases.filter(
    (testCase) =>
      readExpectation(testCase) === 'accept' &&
      (testCase.step === 'onCreate' || testCase.initialCRDPatches.length === 0),
  );
  const refused = cases.filter(
    ({ step, name, expectedError }) =>
      step === 'onCreate' && expectedError !== undefined && !onlyTheServerKnows.has(name),
  );

  it.each(accepted)('takes what the server takes, and makes the same of it: $name', (testCase) => {
    const written = testCase.step === 'onCreate' ? testCase.initial : testCase.updated;
    const result = validate(kind, named(written));
    expect(result).toMatchObject({ ok: true });
    const stored = result.ok ? (result.object as Record<string, unknown>) : {};
    // A status that is not written stays, which only the server can know.
    const expected =
      written.status === undefined ? { ...testCase.expected, status: stored['status'] } : testCase.expected;
    expect(objectDifferences(expected, stored)).toStrictEqual([]);
  });

  it.each(refused)('refuses what the server refuses: $name', ({ initial }) => {
    const result = validate(kind, named(initial));
    expect(result.ok ? [] : result.problems).not.toStrictEqual([]);
  });
});
