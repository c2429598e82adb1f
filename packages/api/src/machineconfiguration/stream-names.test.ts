import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSameStream, knownStream, knownStreams, streamStep } from './stream-names.ts';

const spellings = knownStreams.flatMap(({ name, aliases }) => [name, ...aliases]);
const anyName = fc.oneof(fc.constantFrom(...spellings), fc.constantFrom('rhel-11', 'hardened', 'toString', ''));

describe('the stream table', () => {
  it('contains every name and alias once', () => {
    expect(new Set(spellings).size).toBe(spellings.length);
  });

  it('contains only names that are valid in an OSImageStream and in CEL without escaping', () => {
    for (const spelling of spellings) expect(spelling).toMatch(/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/);
  });

  it.each([...new Set(knownStreams.map(({ family }) => family))])(
    'contains one stream per major version of %s, or a single one without versions',
    (family) => {
      const majors = knownStreams.filter((stream) => stream.family === family).map(({ major }) => major);
      expect(new Set(majors).size).toBe(majors.length);
      expect(majors.length === 1 || !majors.includes(null)).toBe(true);
    },
  );
});

describe('stream names', () => {
  it.each([
    ['rhel-9', 'rhel-9', true],
    ['rhel-9', 'rhel9-coreos', true],
    ['rhel10-coreos', 'rhel-10', true],
    ['stream-coreos', 'centos-10', true],
    ['rhel-9', 'rhel-10', false],
    ['rhel-9', 'centos-9', false],
    ['rhel9-coreos', 'rhel10-coreos', false],
    ['hardened', 'hardened', true],
    ['hardened', 'minimal', false],
    ['hardened', 'rhel-9', false],
  ])('%s and %s: %s', (a, b, same) => {
    expect(isSameStream(a, b)).toBe(same);
    expect(isSameStream(b, a)).toBe(same);
  });

  it.each([
    ['rhel9-coreos', 'rhel-9'],
    ['rhel-10', 'rhel-10'],
    ['stream-coreos', 'centos-10'],
    ['fedora-coreos', 'fedora-coreos'],
    ['rhel-coreos', undefined],
    ['constructor', undefined],
    ['', undefined],
  ])('%s resolves to %s', (name, found) => {
    expect(knownStream(name)?.name).toBe(found);
  });
});

describe('a move between streams', () => {
  it.each([
    ['rhel-9', 'rhel-10', 'forward'],
    ['rhel9-coreos', 'rhel-10', 'forward'],
    ['rhel-10', 'rhel-9', 'backward'],
    ['rhel-10', 'rhel9-coreos', 'backward'],
    ['stream-coreos', 'centos-9', 'backward'],
    ['rhel9-coreos', 'rhel-9', 'same'],
    ['rhel-9', 'centos-9', 'other family'],
    ['rhel-9', 'centos-10', 'other family'],
    ['fedora-coreos', 'rhel-10', 'other family'],
    ['fedora-coreos', 'fedora-coreos', 'same'],
    ['rhel-10', 'hardened', 'unknown'],
    ['hardened', 'rhel-9', 'unknown'],
    ['hardened', 'hardened', 'same'],
  ] as const)('from %s to %s is %s', (from, to, step) => {
    expect(streamStep(from, to)).toBe(step);
  });

  it('is backward in one direction if it is forward in the other, and otherwise the same in both', () => {
    const turned = { forward: 'backward', backward: 'forward' } as const;
    fc.assert(
      fc.property(anyName, anyName, (a, b) => {
        const step = streamStep(a, b);
        expect(streamStep(b, a)).toBe(step === 'forward' || step === 'backward' ? turned[step] : step);
      }),
    );
  });

  it('cannot lead to an older stream through forward moves and aliases', () => {
    fc.assert(
      fc.property(anyName, fc.array(anyName, { maxLength: 20 }), (start, wishes) => {
        const allowed = (from: string, to: string): boolean => ['same', 'forward'].includes(streamStep(from, to));
        const end = wishes.reduce((at, wish) => (allowed(at, wish) ? wish : at), start);
        expect(allowed(start, end)).toBe(true);
      }),
    );
  });

  it('does not depend on the alias that is used', () => {
    for (const { name, aliases } of knownStreams) {
      for (const alias of aliases) {
        for (const other of spellings) expect(streamStep(alias, other)).toBe(streamStep(name, other));
      }
    }
  });
});
