import { describe, expect, it } from 'vitest';
import { NOW } from './sample.ts';
import { AFTER_FAILURE, parseTargetReason, targetReason } from './target-reason.ts';

describe('why a Node was given its config', () => {
  it('is read as it was written', () => {
    expect(targetReason(NOW, 'it is its turn')).toBe('2026-03-01T12:00:00.000Z it is its turn');
    expect(parseTargetReason(targetReason(NOW, 'it is its turn'))).toEqual({
      givenAt: NOW,
      why: 'it is its turn',
      wasFailing: false,
    });
    expect(parseTargetReason(targetReason(NOW, `${AFTER_FAILURE}another chance`))).toMatchObject({ wasFailing: true });
  });

  it.each([undefined, '', 'because', '2026-03-01', 'not-a-time-but-long-enough because'])(
    'that nobody of ours wrote (%s) has no time',
    (text) => {
      expect(parseTargetReason(text)).toEqual({ givenAt: null, why: text ?? '', wasFailing: false });
    },
  );

  it('is bounded', () => {
    expect(targetReason(NOW, 'x'.repeat(10_000)).length).toBeLessThan(600);
    expect(parseTargetReason('x'.repeat(10_000)).why.length).toBeLessThan(600);
  });
});
