import { decodeDataUrl, gunzip } from '@slipway/ignition';
import { describe, expect, it } from 'vitest';
import { renderPool } from './render-pool.ts';
import { MAX_SPEC_BYTES, computeStoredSize } from './size.ts';
import { file, readInput, machineConfig, render, renderOk, withFiles } from './testing/sample.ts';

/** Text that gzip cannot make smaller, the same in every run. */
const noise = (length: number, seed: number): string => {
  let state = seed;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  return Array.from({ length }, () => String.fromCharCode(33 + (next() % 90))).join('');
};
const text = (length: number) => 'server = 10.0.0.1 # the one in the cellar\n'.repeat(length / 42);

const large = [
  machineConfig('10', withFiles(file('/etc/first', text(1_000_000)), file('/etc/small', text(10_000)))),
  machineConfig('20', withFiles(file('/etc/second', text(900_000)))),
];

describe('a rendered config that is too large for one object', () => {
  it('fits after compressing contents, the largest first and no more than needed', async () => {
    const { rendered } = await renderOk(large);
    const packed = rendered.spec.config.storage?.files?.map((each) => [each.path, each.contents?.compression]);
    expect(packed).toEqual([
      ['/etc/first', 'gzip'],
      ['/etc/small', undefined],
      ['/etc/second', undefined],
    ]);
    expect(rendered.bytes).toBe(computeStoredSize(rendered.spec));
    expect(rendered.bytes).toBeLessThanOrEqual(MAX_SPEC_BYTES);
  });

  it('has the same contents as before', async () => {
    const { rendered } = await renderOk(large);
    const decoded = decodeDataUrl(rendered.spec.config.storage?.files?.[0]?.contents?.source ?? '');
    const unpacked = decoded.ok ? await gunzip(decoded.bytes, { maxBytes: 10_000_000 }) : decoded;
    expect(unpacked.ok && new TextDecoder().decode(unpacked.bytes)).toBe(text(1_000_000));
  });

  it('has a name that does not depend on gzip', async () => {
    const { rendered } = await renderOk(large);
    const native = globalThis.CompressionStream;
    try {
      // Another engine, which stores without compression.
      globalThis.CompressionStream = class extends native {
        constructor() {
          super('deflate');
        }
      };
      const inputs = await Promise.all(large.map(readInput));
      const other = await renderPool({ pool: 'worker', inputs, osImages: {}, controllerVersion: '1.0.0' });
      expect(other.ok && other.rendered.name).toBe(rendered.name);
      expect(other.ok && other.rendered.spec).not.toEqual(rendered.spec);
    } finally {
      globalThis.CompressionStream = native;
    }
  });

  it('is refused if compression does not help, with the largest contributors and their MachineConfigs', async () => {
    const result = await render([
      machineConfig(
        '10-noise',
        withFiles(...[1, 2, 3].map((seed) => file(`/noise-${seed}`, noise(700_000 + seed, seed)))),
      ),
      machineConfig('20-unit', {
        config: {
          ignition: { version: '3.5.0' },
          systemd: { units: [{ name: 'large.service', contents: `[Unit]\n${'Wants=a.service\n'.repeat(3_000)}` }] },
        },
      }),
      machineConfig(
        '30-small',
        withFiles(...Array.from({ length: 9 }, (_, index) => file(`/small-${index}`, 'small'))),
      ),
    ]);
    const [problem] = result.ok ? [] : result.problems;
    expect(problem).toMatchObject({ code: 'SLW_RENDER_TOO_LARGE', object: 'MachineConfigPool worker' });
    expect(problem?.message).toMatch(
      /has \d{7} bytes with compressed contents, and an API object can have at most 1500000/,
    );
    expect(problem?.message).toMatch(/file \/noise-\d with \d+ bytes from MachineConfig 10-noise; file/);
    expect(problem?.message).toMatch(/unit large.service with 5\d{4} bytes from MachineConfig 20-unit/);
    expect(problem?.message.match(/ bytes from MachineConfig /g)).toHaveLength(5);
  });

  it('is measured as the API server stores it, which writes some characters as six', () => {
    expect(computeStoredSize('<a & b>')).toBe('"\\u003ca \\u0026 b\\u003e"'.length);
    expect(computeStoredSize('€')).toBe(5);
  });
});
