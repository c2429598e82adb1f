import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BASELINE, readBaseline, recordBaseline } from './baseline.ts';
import { bringTo, sampleConfig, sampleFile, sampleMachine } from './sample-machine.ts';

const empty = sampleConfig('rendered-worker-2', {});

describe('a baseline', () => {
  it('is private, and says for which config it is', async () => {
    const { host, at } = await sampleMachine();
    await recordBaseline(host, null, empty);
    expect(statSync(at(BASELINE)).mode & 0o777).toBe(0o600);
    expect(await readBaseline(host.files)).toEqual({ config: 'rendered-worker-2', tolerated: [], absent: [] });
  });

  it('does not ask for the absence of what the OS has at a path that an earlier config had', async () => {
    const { host } = await sampleMachine();
    const before = await bringTo(
      host,
      sampleConfig('rendered-worker-1', { files: [sampleFile('/etc/stays', 'x')], users: [KEYS] }),
    );
    await host.files.remove('/home/core/.ssh/authorized_keys.d/ignition');
    await recordBaseline(host, before, empty);
    expect((await readBaseline(host.files))?.absent).toEqual(['/home/core/.ssh/authorized_keys.d/ignition']);
  });

  it('keeps the newest paths when there are too many', async () => {
    const { host, at } = await sampleMachine();
    const many = (prefix: string) => {
      const names = Array.from({ length: 400 }, (_, index) => `/etc/${prefix}/${index}${'x'.repeat(200)}`);
      return sampleConfig(`rendered-worker-${prefix}`, { files: names.map((name) => sampleFile(name, '')) });
    };
    await recordBaseline(host, many('older'), empty);
    await recordBaseline(host, many('newer'), empty);
    const { absent = [] } = (await readBaseline(host.files)) ?? {};
    expect(absent.length).toBeLessThan(400);
    expect(absent.every((path) => path.startsWith('/etc/newer/'))).toBe(true);
    expect(readFileSync(at(BASELINE)).length).toBeLessThan(100_000);
  });

  it.each([
    ['damaged', '{"format":1,"config":"a","toler'],
    ['of another format', '{"format":2,"config":"a","tolerated":[],"absent":[]}'],
    ['with something else in it', '{"format":1,"config":"a","tolerated":[1],"absent":[]}'],
    ['with a path that is none', '{"format":1,"config":"a","tolerated":[],"absent":["../x"]}'],
    ['far too large', ' '.repeat(2 * 1024 * 1024)],
  ])('that is %s counts as none', async (_, text) => {
    const { host, at } = await sampleMachine();
    await recordBaseline(host, null, empty);
    writeFileSync(at(BASELINE), text);
    expect(await readBaseline(host.files)).toBeNull();
  });
});

const KEYS = { name: 'core', sshAuthorizedKeys: ['ssh-ed25519 AAAA me'] };
