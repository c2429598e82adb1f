import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { rolldown } from 'rolldown';
import { beforeAll, describe, expect, it } from 'vitest';

const ENTRY = join(import.meta.dirname, '../src/index.ts');

interface Bundle {
  code: string;
  /** What the bundle would have to load from elsewhere. */
  imports: string[];
  modules: string[];
}

async function bundleForBrowser(input: string): Promise<Bundle> {
  const build = await rolldown({ input, platform: 'browser', logLevel: 'silent' });
  const { output } = await build.generate({ format: 'iife', name: 'ignition', exports: 'named' });
  await build.close();
  const chunks = output.filter((each) => each.type === 'chunk');
  return {
    code: chunks.map((chunk) => chunk.code).join('\n'),
    imports: chunks.flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports]),
    modules: chunks.flatMap((chunk) => chunk.moduleIds),
  };
}

/** What every browser provides beyond the language; nothing of Node. */
const WEB_GLOBALS = {
  AbortController,
  AbortSignal,
  CompressionStream,
  DecompressionStream,
  ReadableStream,
  TextDecoder,
  TextEncoder,
  URL,
  crypto,
  structuredClone,
  // Streams return arrays of the outer realm; in a browser there is only one.
  Uint8Array,
};

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleForBrowser(ENTRY);
});

describe('the library, bundled for a browser', () => {
  it('needs nothing outside the bundle', () => {
    expect(bundle.imports).toEqual([]);
    expect(bundle.modules.filter((id) => /node_modules(?!.*\bdiff\b)/.test(id))).toEqual([]);
  });

  it('would fail this test if it needed Node', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'bundle-'));
    const input = join(dir, 'entry.js');
    await writeFile(input, "import { readFileSync } from 'node:fs';\nexport const read = readFileSync;\n");
    expect((await bundleForBrowser(input)).imports).toEqual(['node:fs']);
    await rm(dir, { recursive: true });
  });

  it('parses, validates, translates, merges, resolves and compares without Node', async () => {
    const context = createContext({ ...WEB_GLOBALS });
    runInContext(bundle.code, context);
    expect(runInContext('[typeof process, typeof Buffer, typeof require, typeof fetch].join()', context)).toBe(
      'undefined,undefined,undefined,undefined',
    );
    const answer: unknown = await runInContext(
      `(async () => {
        const { parse, validate, translate, merge, resolve, diffConfigs, formatDiff } = ignition;
        const text = 'a line\\n'.repeat(500);
        const old = parse('{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/f","contents":{"source":"https://h/f"}}]}}');
        const base = translate(old.config, '3.5.0').config;
        const child = parse({ ignition: { version: '3.5.0' }, kernelArguments: { shouldExist: ['quiet'] } }).config;
        const merged = merge([{ name: 'base', config: base }, { name: 'child', config: child }]);
        const fetch = async () => ({ ok: true, bytes: new TextEncoder().encode(text) });
        const resolved = await resolve(merged.config, { name: 'test', fetch });
        const diff = await diffConfigs(base, resolved.config);
        return JSON.stringify({
          problems: [...old.report, ...validate(merged.config), ...resolved.report],
          from: merged.provenance.get('kernelArguments.shouldExist[0]').from,
          compression: resolved.config.storage.files[0].contents.compression,
          diff: formatDiff(diff.items),
        });
      })()`,
      context,
    );
    expect(JSON.parse(String(answer))).toEqual({
      problems: [],
      from: 'child',
      compression: 'gzip',
      diff: expect.stringContaining('+ shouldExist: quiet'),
    });
  });
});
