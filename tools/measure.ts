// npm run measure [-- --root DIR] [--places] [--check]
//
// Prints the code measures. `--root` measures another checkout by the same rules, `--places` lists every place that
// counts, `--check` prints only exceeded limits, and fails.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { formatBroken, formatTable } from './house/limits.ts';
import { measureHouse } from './house/measure.ts';
import { formatTestRun, readTestRun } from './house/test-run.ts';

const { values: options } = parseArgs({
  options: { root: { type: 'string' }, places: { type: 'boolean' }, check: { type: 'boolean' } },
});
const root = resolve(options.root ?? resolve(import.meta.dirname, '..'));
const measures = measureHouse(root);
const broken = formatBroken(measures);
if (options.check !== true) {
  console.log(formatTable(measures));
  console.log(`\nnpm test: ${formatTestRun(readTestRun(root))}`);
}
if (options.places === true) {
  for (const { name, places } of measures.filter((measure) => measure.places.length > 0)) {
    console.log([`\n${name}:`, ...places.map((place) => `  ${place}`)].join('\n'));
  }
}
for (const line of broken) console.error(line);
if (broken.length > 0) process.exitCode = 1;
