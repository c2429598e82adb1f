import { Oracle } from '@slipway/tools/ignition-oracle';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCase, findDifference } from './compare.ts';
import { DEVIATIONS, findDeviation } from './deviations.ts';
import { EXAMPLES } from './deviation-examples.ts';

let oracle: Oracle;

beforeAll(async () => {
  oracle = await Oracle.start();
}, 300_000);

afterAll(() => oracle.close());

describe.each(DEVIATIONS)('the deviation $id', ({ id }) => {
  const examples = EXAMPLES[id] ?? [];

  it('has an example', () => expect(examples).not.toHaveLength(0));

  // If the Go library changes its behaviour, the deviation no longer exists, and its entry must be removed.
  it.each(examples)('still exists: $question.op $question.configs', async ({ question, go, ours }) => {
    const theirAnswer = await oracle.ask(question);
    const ourAnswer = runCase(question);
    expect({ go: theirAnswer.stage, ours: ourAnswer.stage }).toEqual({ go, ours });
    expect(findDifference(theirAnswer, ourAnswer)).toBeDefined();
    expect(findDeviation({ question, go: theirAnswer, ours: ourAnswer })?.id).toBe(id);
  });
});
