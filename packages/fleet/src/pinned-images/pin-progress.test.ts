import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatBytes, roundBytes } from '@slipway/base/text';
import { type Amount, formatPinProgress, parsePinProgress, type PinProgress } from './pin-progress.ts';

const MAX_MESSAGE = 32_768;
const MiB = 1024 ** 2;

const pulling: PinProgress = {
  sets: [
    { name: 'app', images: { done: 3, total: 3 }, bytes: { done: 100 * MiB, total: 100 * MiB } },
    { name: 'release', images: { done: 12, total: 50 }, bytes: { done: 1_234_567_890, total: 4_800_000_000 } },
    { name: 'unknown', images: { done: 0, total: 7 }, bytes: null },
  ],
  bytes: { done: 1_339_425_490, total: 4_904_857_600 },
  bytesPerSecond: 35_012_345,
  secondsLeft: 130,
  waitsFor: 'the registry',
  lastError: 'image quay.example.com/a@sha256:1: manifest unknown (SLW_PINNING_PULL)',
  store: { free: 30_210_000_000, size: 120_000_000_000 },
};

describe('how far a node is', () => {
  it('is formatted in human-readable lines', () => {
    expect(formatPinProgress(pulling)).toBe(
      [
        '3 sets, 1.339 GB of 4.905 GB, 35.01 MB/s, 2m10s left',
        '- app: 3 of 3 images, 104.9 MB of 104.9 MB',
        '- release: 12 of 50 images, 1.234 GB of 4.8 GB',
        '- unknown: 0 of 7 images',
        'Waits for: the registry',
        'Last error: image quay.example.com/a@sha256:1: manifest unknown (SLW_PINNING_PULL)',
        'Image store: 30.21 GB free of 120 GB',
      ].join('\n'),
    );
  });

  it('is formatted for a node without sets', () => {
    const idle: PinProgress = {
      sets: [],
      bytes: null,
      bytesPerSecond: null,
      secondsLeft: null,
      waitsFor: '',
      lastError: '',
      store: null,
    };
    expect(formatPinProgress(idle)).toBe('0 sets');
    expect(parsePinProgress('0 sets')).toStrictEqual(idle);
  });

  it.each([
    '',
    'AsExpected',
    '1 set',
    '2 sets\n- a: 1 of 1 images',
    'x\n1 set\n- a: 1 of 1 images',
    ' '.repeat(40_000),
  ])('is not read out of %j', (message) => expect(parsePinProgress(message)).toBeNull());

  it('survives a round trip if nothing had to be rounded or shortened', () => {
    fc.assert(
      fc.property(arbitraryProgress(rounded, line), (each) => {
        expect(parsePinProgress(formatPinProgress(each))).toEqual(each);
      }),
    );
  });

  it('does not change when it is parsed and formatted again', () => {
    fc.assert(
      fc.property(arbitraryProgress(anyAmount, anyText), (each) => {
        const told = formatPinProgress(each);
        expect(formatPinProgress(readBack(told))).toBe(told);
      }),
    );
  });

  it('never shows a missing part as complete, and is accurate to a thousandth', () => {
    fc.assert(
      fc.property(fc.oneof(anyAmount, close), (bytes) => {
        const told = readBack(formatPinProgress({ ...pulling, bytes })).bytes ?? {
          done: Number.NaN,
          total: Number.NaN,
        };
        expect(told.done >= told.total).toBe(bytes.done >= bytes.total);
        expect(Math.abs(told.total - bytes.total)).toBeLessThanOrEqual(bytes.total / 1000);
        expect(Math.abs(told.done - bytes.done)).toBeLessThanOrEqual(bytes.total / 1000);
      }),
    );
  });

  it('fits into a condition with the most sets of the longest names and endless texts', () => {
    const set = {
      images: { done: 499, total: 500 },
      bytes: { done: 123_456_789_012_345, total: 999_912_345_678_901 },
    };
    const told = formatPinProgress({
      ...pulling,
      sets: Array.from({ length: 100 }, (_, index) => ({ ...set, name: `${'n'.repeat(250)}${100 + index}` })),
      secondsLeft: 1e9,
      waitsFor: 'w'.repeat(100_000),
      lastError: 'e'.repeat(100_000),
    });
    expect(told.length).toBeLessThanOrEqual(MAX_MESSAGE);
    expect(parsePinProgress(told)?.sets).toHaveLength(100);
  });
});

describe('human-readable bytes', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1 kB'],
    [12_345, '12.34 kB'],
    [999_999, '999.9 kB'],
    [16 * 1024 ** 3, '17.17 GB'],
    [Number.MAX_SAFE_INTEGER, '9.007 PB'],
    [-5, '0 B'],
    [1.5, '1 B'],
  ])('%d is %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  it('rounds up to the next unit', () => expect(formatBytes(999_950, 'up')).toBe('1 MB'));
});

function readBack(message: string): PinProgress {
  const read = parsePinProgress(message);
  if (read === null) throw new Error(`cannot be read back: ${message}`);
  return read;
}

const anyAmount: fc.Arbitrary<Amount> = fc
  .tuple(fc.maxSafeNat(), fc.maxSafeNat())
  .map(([a, b]) => ({ done: Math.min(a, b), total: Math.max(a, b) }));
/** Also those that differ by little. */
const close: fc.Arbitrary<Amount> = fc
  .tuple(fc.integer({ min: 10_000, max: 2 ** 40 }), fc.integer({ min: 0, max: 3 }))
  .map(([total, missing]) => ({ done: total - missing, total }));
const roundedBytes = fc.maxSafeNat().map((bytes) => roundBytes(bytes, 'down'));
const rounded: fc.Arbitrary<Amount> = fc
  .tuple(roundedBytes, roundedBytes)
  .map(([a, b]) => ({ done: Math.min(a, b), total: Math.max(a, b) }));
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 2000 }),
  fc.constantFrom(
    'a\nb',
    '1 set\n- a: 1 of 1 images',
    'Last error: x',
    'Image store: 1 B free of 2 B',
    '  ',
    'a\u2028b',
  ),
);
const line = fc
  .string({ unit: 'grapheme', maxLength: 250 })
  .map((text) => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '').trim())
  .filter((text) => text.length <= 300);

function arbitraryProgress(amount: fc.Arbitrary<Amount>, text: fc.Arbitrary<string>): fc.Arbitrary<PinProgress> {
  const either = amount === anyAmount ? fc.oneof(anyAmount, close) : amount;
  const images = fc
    .tuple(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 0, max: 500 }))
    .map(([a, b]) => ({ done: Math.min(a, b), total: Math.max(a, b) }));
  return fc.record({
    sets: fc.array(
      fc.record({
        name: fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?$/),
        images,
        bytes: fc.option(either),
      }),
      { maxLength: 8 },
    ),
    bytes: fc.option(either),
    bytesPerSecond: fc.option(amount === anyAmount ? fc.maxSafeNat() : roundedBytes),
    secondsLeft: fc.option(fc.nat()),
    waitsFor: text,
    lastError: text,
    store: fc.option(fc.record({ free: roundedBytes, size: roundedBytes })),
  });
}
