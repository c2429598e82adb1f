// Run by hostile.ts in a separate process, so that a crash is isolated and the memory is only that of this work.
import * as fc from 'fast-check';
import { parse, SPEC_VERSIONS, validate } from '../src/index.ts';
import { configs } from './configs.ts';
import { costlyInputs } from './costly-inputs.ts';
import { mutateBytes, randomFrom } from './hostile-bytes.ts';

const [seed = 1, count = 100_000] = process.argv.slice(2).map(Number);
const random = randomFrom(seed);
const corpus = SPEC_VERSIONS.flatMap((version) => fc.sample(configs(version), { seed, numRuns: 60 })).map((config) =>
  new TextEncoder().encode(JSON.stringify(config)),
);
const costly = Array.from(costlyInputs(), (text) => new TextEncoder().encode(text));

const result = { inputs: 0, parsed: 0, valid: 0, slowestMillis: 0, slowestInput: '', grownMebibytes: 0 };
const startRss = process.memoryUsage.rss();

for (const input of costly) feed(input);
for (let n = 0; n < count; n += 1) {
  // Occasionally a large one, mutated like the others.
  const pool = n % 2_000 === 0 ? costly : corpus;
  feed(mutateBytes(pick(pool), pick(corpus), random));
  if (n % 500 === 0) recordMemory();
}
process.stdout.write(JSON.stringify(result));

function feed(input: Uint8Array): void {
  // CPU time of this thread: load from other processes must not look like a hang.
  const start = process.threadCpuUsage();
  const parsed = parse(input);
  if (parsed.config !== null) {
    result.parsed += 1;
    if (validate(parsed.config).every(({ kind }) => kind !== 'error')) result.valid += 1;
  }
  const { user, system } = process.threadCpuUsage(start);
  const millis = (user + system) / 1000;
  result.inputs += 1;
  if (millis > result.slowestMillis) {
    result.slowestMillis = millis;
    result.slowestInput = `${input.length} bytes: ${Buffer.from(input.subarray(0, 120)).toString()}`;
  }
}

function recordMemory(): void {
  const grown = (process.memoryUsage.rss() - startRss) / 2 ** 20;
  result.grownMebibytes = Math.max(result.grownMebibytes, grown);
}

function pick(pool: readonly Uint8Array[]): Uint8Array {
  return pool[random(pool.length)] ?? new Uint8Array();
}
