import { describe, expect, it } from 'vitest';
import { readYaml } from './manifest-yaml.ts';

describe('YAML of a manifest', () => {
  it.each([
    ['0644', 420],
    ['0o644', 420],
    ['420', 420],
    ['0x1a4', 420],
    ['"0644"', '0644'],
    ['yes', true],
    ['off', false],
    ['2026-01-02', '2026-01-02'],
    ['22:30', '22:30'],
    ['~', null],
    ['data:,a', 'data:,a'],
  ])('%s is read as Kubernetes reads it', (text, value) => {
    expect(readYaml('x', `field: ${text}\n`)).toEqual({ field: value });
  });

  it('of an empty file is nothing', () => {
    expect(readYaml('x', '# only a comment\n')).toBeUndefined();
  });
});
