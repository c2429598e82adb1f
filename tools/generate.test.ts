import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generatedFiles, strayFiles } from './generate.ts';

const root = join(import.meta.dirname, '..');

describe('generated files are as `npm run generate` writes them', () => {
  it.each([...generatedFiles()])('%s', async (path, content) => {
    expect(await readFile(join(root, path), 'utf8').catch(() => 'missing')).toBe(content);
  });

  it('and there are no others', async () => {
    expect(await strayFiles()).toStrictEqual([]);
  });
});
