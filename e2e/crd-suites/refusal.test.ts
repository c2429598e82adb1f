import { describe, expect, it } from 'vitest';
import { wrongRefusal } from './refusal.ts';

const refusedWith = (status: number, message: string) => ({ ok: false as const, status, message });

describe('a refusal counts', () => {
  it.each<[string, Parameters<typeof wrongRefusal>]>([
    ['by the schema', [refusedWith(422, 'spec.a: bad'), 'anything', 'place']],
    ['at the field that was expected', [refusedWith(422, 'spec.a[0].b: bad'), 'spec.a[0].b: other words', 'place']],
    ['by a policy', [refusedWith(403, "ValidatingAdmissionPolicy 'x' denied request: no"), 'no', 'exact']],
    ['in our words, where they are ours', [refusedWith(422, 'spec.a: it is bad'), 'it is bad', 'exact']],
  ])('%s', (_, args) => {
    expect(wrongRefusal(...args)).toBeUndefined();
  });
});

describe('a refusal does not count', () => {
  it.each<[string, Parameters<typeof wrongRefusal>, string]>([
    ['when there is none', [{ ok: true, body: {} }, 'no', 'place'], 'should be refused with: no'],
    [
      'when the kind is not there',
      [refusedWith(404, 'no such kind'), 'no', 'place'],
      'failed with 404, not by validation',
    ],
    ['when it is a missing permission', [refusedWith(403, 'cannot create'), 'no', 'place'], 'failed with 403'],
    ['at another field', [refusedWith(422, 'spec.b: bad'), 'spec.a: bad', 'place'], 'should be refused with "spec.a"'],
    [
      'in other words, where they are ours',
      [refusedWith(422, 'bad'), 'worse', 'exact'],
      'should be refused with "worse"',
    ],
  ])('%s', (_, args, message) => {
    expect(wrongRefusal(...args)).toContain(message);
  });
});
