import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { expect, it, onTestFinished } from 'vitest';
import { onlyParts } from './parts.ts';

// Where packages are found from the project's sources.
const CACHE = resolve(import.meta.dirname, '../../node_modules/.cache');

async function bundle(source: string): Promise<string> {
  await mkdir(CACHE, { recursive: true });
  const directory = await mkdtemp(join(CACHE, 'parts-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const input = join(directory, 'entry.mjs');
  await writeFile(input, source);
  await using build = await rolldown({ input, platform: 'node', plugins: [onlyParts(CACHE)] });
  return (await build.generate({ format: 'esm' })).output[0].code;
}

it('a selected part is loaded without the rest of its package', async () => {
  const code = await bundle(`import { Counter } from 'prom-client'; console.log(Counter);`);
  expect(code).toContain('prom-client/lib/counter.js');
  expect(code).not.toMatch(/opentelemetry|Pushgateway/i);
});

it('another part is refused at build time', async () => {
  await expect(bundle(`import { Summary } from 'prom-client'; console.log(Summary);`)).rejects.toThrow(/Summary/);
});
