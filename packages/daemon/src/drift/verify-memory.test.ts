import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { FileSystem } from '../host/file-system.ts';
import { bringTo, sampleConfig, sampleFile, sampleMachine, writeAt } from './testing/sample-machine.ts';
import { verifyMachine } from './verify-machine.ts';
import { createVerifyMemory } from './verify-memory.ts';

describe('a second check', () => {
  it('reads none of 1,000 unchanged files, and takes far less than a second', { timeout: 20_000 }, async () => {
    let reads = 0;
    const wrap = (files: FileSystem): FileSystem => ({
      ...files,
      read(path, limit) {
        reads += path.startsWith('/etc/many') ? 1 : 0;
        return files.read(path, limit);
      },
    });
    const { host, at } = await sampleMachine({ wrap });
    const names = Array.from({ length: 1000 }, (_, index) => `/etc/many/${index}`);
    const text = (name: string) => `${name}\n`.repeat(200);
    for (const name of names) writeAt(at(name), text(name));
    const config = sampleConfig('rendered-worker-1', { files: names.map((name) => sampleFile(name, text(name))) });
    // As if time had passed: recent changes are not trusted.
    const memory = createVerifyMemory(() => Date.now() + 60_000);
    expect(await verifyMachine(host, config, { memory })).toEqual([]);
    expect(reads).toBeGreaterThanOrEqual(1000);
    reads = 0;
    // CPU time, so that other programs on this machine do not matter.
    const start = process.cpuUsage();
    expect(await verifyMachine(host, config, { memory })).toEqual([]);
    const { user, system } = process.cpuUsage(start);
    const took = (user + system) / 1000;
    console.log(`1,000 files checked again by stat alone in ${took.toFixed(0)} ms of processor time`);
    expect(reads).toBe(0);
    expect(took).toBeLessThan(500);
    writeFileSync(at('/etc/many/7'), text('/etc/many/8'));
    expect(await verifyMachine(host, config, { memory })).toMatchObject([{ name: '/etc/many/7' }]);
    expect(reads).toBe(2);
  });

  it('does not trust a file that changed right before it was read', async () => {
    const { host, at } = await sampleMachine();
    const config = await bringTo(host, sampleConfig('rendered-worker-1', { files: [sampleFile('/etc/a', 'a')] }));
    // The clock of the file system does not advance, as for some milliseconds on a real one.
    const { changedMs } = expectFile(await host.files.lookAt('/etc/a'));
    const frozen = {
      ...host,
      files: { ...host.files, lookAt: async (path: string) => freeze(await host.files.lookAt(path), changedMs) },
    };
    const memory = createVerifyMemory(() => changedMs + 1);
    expect(await verifyMachine(frozen, config, { memory })).toEqual([]);
    writeFileSync(at('/etc/a'), 'b');
    expect(await verifyMachine(frozen, config, { memory })).toMatchObject([{ kind: 'file', name: '/etc/a' }]);
  });
});

type LookAtResult = Awaited<ReturnType<FileSystem['lookAt']>>;

function expectFile(found: LookAtResult): Extract<LookAtResult, { kind: 'file' }> {
  if (found?.kind !== 'file') throw new Error('no file');
  return found;
}

function freeze(found: LookAtResult, changedMs: number): LookAtResult {
  return found?.kind === 'file' ? { ...found, changedMs } : found;
}
