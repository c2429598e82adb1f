import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleDaemon } from '@slipway/tools/bundle';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

describe('the program that machines run', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-daemon-main-'));
  });
  afterEach(() => rm(directory, { recursive: true }));
  const simulates = async (entry: string): Promise<boolean> => {
    const { path } = await bundleDaemon({ entry: join(import.meta.dirname, entry), directory });
    return (await readFile(path, 'utf8')).includes('/var/lib/slipway-simulated');
  };

  it('contains no simulator code; only the test program does', async () => {
    expect(await simulates('daemon-main.ts')).toBe(false);
    expect(await simulates('testing/simulated-daemon.ts')).toBe(true);
  });
});
