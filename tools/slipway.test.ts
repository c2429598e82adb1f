import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

describe('./slipway', () => {
  let directory: string;
  const command = fileURLToPath(new URL('../slipway', import.meta.url));
  const run = promisify(execFile);
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-link-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it('runs from any directory and through symbolic links, and prints what the command prints and no more', async () => {
    await symlink(command, join(directory, 'first'));
    await symlink('first', join(directory, 'second'));
    const direct = await run(command, ['--help'], { cwd: '/' });
    expect(direct.stdout).toContain('Usage: slipway');
    expect(await run(join(directory, 'second'), ['--help'], { cwd: directory })).toEqual(direct);
    expect(direct.stderr).toBe('');
  });

  it('keeps the exit code of the command', async () => {
    await expect(run(command, ['no-such-command'])).rejects.toMatchObject({ code: 1 });
  });
});
