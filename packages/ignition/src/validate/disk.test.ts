import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { findOverlap, type Span, computeSpan } from './disk.ts';

/** The client's rule: every partition against every other. */
function overlaps(p: Span, o: Span): boolean {
  const startsIn = p.start >= o.start && p.start <= o.end;
  const endsIn = p.end >= o.start && p.end <= o.end;
  return startsIn || endsIn || (p.start < o.start && p.end > o.end);
}

it('partitions overlap exactly when two of them do, even with sizes below zero', () => {
  const span = fc.tuple(fc.integer({ min: -2, max: 12 }), fc.integer({ min: -5, max: 6 }));
  fc.assert(
    fc.property(fc.array(span, { maxLength: 5 }), (list) => {
      const spans = list.map(([start, size]) => computeSpan(start, size));
      const placed = spans.filter((one) => one !== null);
      const expected = placed.some((p) => placed.some((o) => p !== o && overlaps(p, o)));
      expect(findOverlap(spans) !== null).toBe(expected);
    }),
    { numRuns: 5000 },
  );
});
