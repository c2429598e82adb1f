import { chmodSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { machineAtConfig } from './machine-at-config.ts';

describe('a diff', () => {
  it('shows nothing of a secret file, not even a digest', async () => {
    const { at, check } = await machineAtConfig();
    writeFileSync(at('/etc/secret.conf'), 'password=hunter3\n');
    const [drift] = await check();
    expect(drift?.diff).toContain('(hidden): 17 bytes → 17 bytes');
    expect(JSON.stringify(drift)).not.toMatch(/hunter|sha256|[0-9a-f]{32}/);
  });

  it('shows nothing of a file that was secret and can now be read by all', async () => {
    const { at, check } = await machineAtConfig();
    writeFileSync(at('/etc/secret.conf'), 'password=hunter3\n');
    chmodSync(at('/etc/secret.conf'), 0o644);
    expect(JSON.stringify(await check())).not.toContain('hunter');
  });

  it('has the sizes of binary files', async () => {
    const { at, check } = await machineAtConfig();
    writeFileSync(at('/etc/image.bin'), Buffer.from([0, 1, 2, 3]));
    expect((await check())[0]?.diff).toContain('contents (binary): 3 bytes');
  });

  it('is bounded, however much differs', async () => {
    const { at, check } = await machineAtConfig();
    const lines = Array.from({ length: 900 }, (_, index) => `line ${index} ${'x'.repeat(100)}`);
    writeFileSync(at('/etc/chrony.conf'), lines.join('\n'));
    const diff = (await check())[0]?.diff ?? '';
    expect(diff.length).toBeLessThan(4200);
    expect(diff).toMatch(/… and \d+ more lines\n$/);
  });
});
