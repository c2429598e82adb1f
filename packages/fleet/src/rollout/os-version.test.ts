import { describe, expect, it } from 'vitest';
import { highestMajor, osMajorOf } from './os-version.ts';
import { NEW, OLD, sampleNode } from './sample.ts';

describe('osMajorOf', () => {
  it.each<[string, number | null]>([
    ['Red Hat Enterprise Linux CoreOS 9.6.20260101-0 (Plow)', 9],
    ['Red Hat Enterprise Linux CoreOS 10.0.20260101-0', 10],
    ['Red Hat Enterprise Linux CoreOS 418.94.202501010000-0', 9],
    ['Red Hat Enterprise Linux CoreOS 421.100.202601010000-0', 10],
    ['CentOS Stream CoreOS 9.0.20250510-0', 9],
    ['Fedora CoreOS 42.20250901.3.0', 42],
    ['Debian GNU/Linux 12 (bookworm)', null],
    ['', null],
  ])('%s: %s', (osImage, major) => {
    expect(osMajorOf(osImage)).toBe(major);
  });

  it('of several machines the highest counts, of those that run the config', () => {
    const nodes = [
      sampleNode('a', { osImage: 'CoreOS 9.6.1' }),
      sampleNode('b', { osImage: 'CoreOS 10.1.1' }),
      sampleNode('c', { osImage: 'CoreOS 11.0.1', current: NEW }),
      sampleNode('d', { osImage: '' }),
    ];
    expect(highestMajor(nodes, (config) => config === OLD)).toBe(10);
    expect(highestMajor(nodes, (config) => config === 'rendered-worker-x')).toBeNull();
  });
});
