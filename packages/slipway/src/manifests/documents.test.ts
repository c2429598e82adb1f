import { describe, expect, it } from 'vitest';
import { documentsOf } from './documents.ts';

const placesAndValues = (text: string) => documentsOf('fleet.yaml', text).map(({ place, value }) => [place, value]);

describe('the documents of a manifest file', () => {
  it.each<[string, string, [string, unknown][]]>([
    ['one document of YAML', 'kind: A\n', [['fleet.yaml', { kind: 'A' }]]],
    ['JSON', '{"kind":"A"}', [['fleet.yaml', { kind: 'A' }]]],
    ['YAML that begins like JSON', '{kind: A}', [['fleet.yaml', { kind: 'A' }]]],
    [
      'several documents, numbered as they stand, empty ones included',
      '--- # nothing\n---\nkind: A\n---\n---\nkind: B\n',
      [
        ['fleet.yaml, document 2', { kind: 'A' }],
        ['fleet.yaml, document 4', { kind: 'B' }],
      ],
    ],
    [
      'a List of kubectl',
      'kind: List\napiVersion: v1\nitems: [{kind: A}, {kind: B}]',
      [
        ['fleet.yaml, item 1', { kind: 'A' }],
        ['fleet.yaml, item 2', { kind: 'B' }],
      ],
    ],
    [
      'a list of one kind, as the API gives it',
      '{"kind":"MachineConfigList","apiVersion":"g/v1","items":[{"metadata":{"name":"a"}}]}',
      [['fleet.yaml, item 1', { apiVersion: 'g/v1', kind: 'MachineConfig', metadata: { name: 'a' } }]],
    ],
    ['nothing at all', '', []],
  ])('%s', (_, text, expected) => {
    expect(placesAndValues(text)).toEqual(expected);
  });

  it.each([
    ['text that is neither', 'a: [', /^fleet\.yaml is neither JSON nor YAML: .* at line 1/],
    ['aliases that unfold to far more than the file', bomb(), /^fleet\.yaml unfolds to too much/],
    ['nesting without end', '['.repeat(20_000), /^fleet\.yaml (is nested too deep|is neither JSON nor YAML)/],
  ])('of %s are refused', (_, text, message) => {
    expect(() => documentsOf('fleet.yaml', text)).toThrow(message);
  });
});

function bomb(): string {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 9; i += 1)
    lines.push(
      `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(', ')}]`,
    );
  return lines.join('\n');
}
