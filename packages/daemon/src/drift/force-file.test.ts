import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isForced, takeForceFile } from './force-file.ts';
import { sampleMachine } from './sample-machine.ts';

describe('the force file', () => {
  it('counts once', async () => {
    const { host, at } = await sampleMachine();
    expect(await isForced(host.files)).toBe(false);
    expect(await takeForceFile(host.files)).toBe(false);
    writeFileSync(at('/run/machine-config-daemon-force'), '');
    expect(await isForced(host.files)).toBe(true);
    expect(await takeForceFile(host.files)).toBe(true);
    expect(existsSync(at('/run/machine-config-daemon-force'))).toBe(false);
    expect(await takeForceFile(host.files)).toBe(false);
  });
});
