import { describe, expect, it } from 'vitest';
import { readExpectation, readSuite } from './suite.ts';

const SUITE = `
name: Things
crdName: things.example.com
tests:
  onCreate:
    - name: a thing
      initial: |
        apiVersion: example.com/v1
        kind: Thing
        spec: {}
  onUpdate:
    - name: a worse thing
      initial: |
        apiVersion: example.com/v1
        kind: Thing
        metadata:
          name: it
      updated: |
        apiVersion: example.com/v1
        kind: Thing
        status:
          size: -1
      expectedStatusError: "status.size: too small"
`;

describe('a suite file', () => {
  it('gives its cases in order, with what is left out filled in', () => {
    const read = readSuite('things.yaml', SUITE);
    expect(read.crdName).toBe('things.example.com');
    expect(read.cases.map(({ step, name }) => `${step}: ${name}`)).toStrictEqual([
      'onCreate: a thing',
      'onUpdate: a worse thing',
    ]);
    expect(read.cases[0]?.expected).toStrictEqual({
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      metadata: {},
      spec: {},
    });
    expect(read.cases[1]?.expected.status).toStrictEqual({ size: -1 });
    expect(read.cases.map(readExpectation)).toStrictEqual(['accept', 'reject']);
  });

  it.each([
    ['no CRD', SUITE.replace('crdName: things.example.com', ''), 'things.yaml: crdName is required'],
    ['no cases', 'crdName: things.example.com', 'things.yaml: tests: must be an object'],
    [
      'a case without a name',
      SUITE.replace('- name: a thing', '- title: a thing'),
      'things.yaml: onCreate: name is required',
    ],
    ['an object without a kind', SUITE.replace('kind: Thing', ''), 'things.yaml: a thing: initial: kind is required'],
    [
      'an object that is a list',
      SUITE.replace('apiVersion: example.com/v1\n        kind: Thing\n        spec: {}', '[]'),
      'things.yaml: a thing: initial: must be an object',
    ],
    [
      'an update that updates nothing',
      SUITE.replace('updated: |', 'changed: |'),
      'things.yaml: a worse thing: updated is required',
    ],
    [
      'an error that is no text',
      SUITE.replace('"status.size: too small"', '7'),
      'things.yaml: a worse thing: expectedStatusError must be a string',
    ],
    [
      'cases that are no list',
      SUITE.replace('onCreate:', 'onCreate: {}\n  later:'),
      'things.yaml: tests: onCreate must be a list',
    ],
  ])('with a mistake is refused and says which: %s', (_, text, message) => {
    expect(() => readSuite('things.yaml', text)).toThrow(message);
  });
});
