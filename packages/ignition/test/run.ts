import * as fc from 'fast-check';
import type { Oracle } from '@slipway/tools/ignition-oracle';
import type { SpecVersion } from '../src/index.ts';
import { generateCases, type Case } from './cases.ts';
import { compare, type Difference } from './compare.ts';
import { everyValue } from './configs.ts';

/** Cases are generated and sent in batches of this size: both sides work concurrently. */
export const BATCH = 500;

export interface FailingCase {
  question: Case;
  difference: Difference;
  /** What fast-check needs to generate the same case again. */
  seed: number;
  path: string;
}

/** Runs one batch of cases through both; the first difference, not yet shrunk. */
export async function runBatch(oracle: Oracle, seed: number, size: number = BATCH): Promise<FailingCase | undefined> {
  const cases = fc.sample(generateCases(), { seed, numRuns: size });
  const answers = await oracle.askAll(cases);
  for (const [index, question] of cases.entries()) {
    const answer = answers[index];
    if (answer === undefined) throw new Error(`no answer to case ${index} of seed ${seed}`);
    const difference = compare(question, answer);
    if (difference !== undefined) return { question, difference, seed, path: String(index) };
  }
  return undefined;
}

/** Runs this many cases through both; `no difference`, or the smallest case that shows one. */
export async function runCases(oracle: Oracle, seed: number, cases: number): Promise<string> {
  console.log(`ignition differential: seed ${seed}, ${cases} cases (SLIPWAY_SEED=${seed} runs them again)`);
  for (let done = 0; done < cases; done += BATCH) {
    const found = await runBatch(oracle, seed + done);
    if (found !== undefined) return shrink(oracle, found);
  }
  return 'no difference';
}

/** Every value of every pool at every place of one version, among random others; differences are already small. */
export async function runEveryValue(oracle: Oracle, version: SpecVersion, seed: number): Promise<string[]> {
  const cases: Case[] = [...everyValue(version)].map((configs, index) => {
    const [config] = fc.sample(configs, { seed: seed + index, numRuns: 1 });
    return { op: 'parse', configs: [JSON.stringify(config)] };
  });
  const answers = await oracle.askAll(cases);
  return cases.flatMap((question, index) => {
    const answer = answers[index];
    const difference = answer === undefined ? undefined : compare(question, answer);
    return difference === undefined ? [] : [describe(question, difference)];
  });
}

/** The smallest case that still differs; fast-check regenerates the found one from its seed and place. */
export async function shrink(oracle: Oracle, { seed, path }: FailingCase): Promise<string> {
  const property = fc.asyncProperty(generateCases(), async (question) => {
    const difference = compare(question, await oracle.ask(question));
    if (difference !== undefined) throw new Error(describe(question, difference));
  });
  const details = await fc.check(property, { seed, path, numRuns: 1, interruptAfterTimeLimit: 20_000 });
  const reason = details.errorInstance instanceof Error ? details.errorInstance.message : String(details.errorInstance);
  return `${reason}\n\nseed ${seed}, path ${details.counterexamplePath ?? path}, ${details.numShrinks} shrinks`;
}

function describe(question: Case, { what, go, ours }: Difference): string {
  const to = question.to === undefined ? '' : ` to ${question.to}`;
  return [`${question.op}${to}: the ${what} differs`, ...question.configs, `Go:   ${go}`, `ours: ${ours}`].join('\n');
}
