import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readHolder, tryLock } from './lock.ts';

describe('a lock', () => {
  let directory: string;
  const path = () => join(directory, 'lock');
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'slipway-lock-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('has one holder at a time, even within a process', () => {
    const first = tryLock(path());
    expect(first).toBeDefined();
    expect(tryLock(path())).toBeUndefined();
    expect(readHolder(path())).toBe(`process ${process.pid}`);
    first?.release();
    first?.release();
    const second = tryLock(path());
    expect(second).toBeDefined();
    second?.release();
  });

  it('of a killed process is released immediately', async () => {
    const source = `import { tryLock } from ${JSON.stringify(import.meta.resolve('./lock.ts'))};
      globalThis.lock = tryLock(${JSON.stringify(path())});
      console.log('locked');
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    expect(tryLock(path())).toBeUndefined();
    expect(readHolder(path())).toBe(`process ${child.pid}`);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const lock = tryLock(path());
    expect(lock).toBeDefined();
    lock?.release();
  });
});
