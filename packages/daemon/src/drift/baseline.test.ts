import { lstatSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BASELINE, findMissingLinks, readBaseline, recordBaseline } from './baseline.ts';
import { heal } from './heal.ts';
import {
  bringTo,
  sampleConfig,
  sampleFile,
  sampleMachine,
  type SampleMachine,
  writeAt,
} from './testing/sample-machine.ts';
import { verifyMachine } from './verify-machine.ts';

const empty = sampleConfig('rendered-worker-2', {});

describe('a baseline', () => {
  it('is private, and names its config', async () => {
    const { host, at } = await sampleMachine();
    await recordBaseline(host, null, empty);
    expect(statSync(at(BASELINE)).mode & 0o777).toBe(0o600);
    expect(await readBaseline(host.files)).toEqual({
      config: 'rendered-worker-2',
      tolerated: [],
      absent: [],
      linked: [],
    });
  });

  it('does not expect a path of an earlier config to be absent if the OS has it', async () => {
    const { host } = await sampleMachine();
    const before = await bringTo(
      host,
      sampleConfig('rendered-worker-1', { files: [sampleFile('/etc/stays', 'x')], users: [KEYS] }),
    );
    await host.files.remove('/home/core/.ssh/authorized_keys.d/ignition');
    await recordBaseline(host, before, empty);
    expect((await readBaseline(host.files))?.absent).toEqual(['/home/core/.ssh/authorized_keys.d/ignition']);
  });

  it('keeps the newest paths if there are too many', async () => {
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
    ['with unexpected contents', '{"format":1,"config":"a","tolerated":[1],"absent":[]}'],
    ['with an invalid path', '{"format":1,"config":"a","tolerated":[],"absent":["../x"]}'],
    ['far too large', ' '.repeat(2 * 1024 * 1024)],
  ])('that is %s counts as missing', async (_, text) => {
    const { host, at } = await sampleMachine();
    await recordBaseline(host, null, empty);
    writeFileSync(at(BASELINE), text);
    expect(await readBaseline(host.files)).toBeNull();
  });
});

describe('a file where none should be', () => {
  const before = sampleConfig('rendered-worker-1', { files: [sampleFile('/etc/old.conf', 'x\n')] });
  const after = sampleConfig('rendered-worker-2', { units: [{ name: 'crio.service', enabled: true }] });

  async function movedOn(): Promise<SampleMachine> {
    const machine = await sampleMachine();
    await bringTo(machine.host, before);
    rmSync(machine.at('/etc/old.conf'));
    await bringTo(machine.host, after, before);
    return machine;
  }

  it('is reported if an earlier config had it', async () => {
    const { host, at } = await movedOn();
    expect(await verifyMachine(host, after)).toEqual([]);
    writeFileSync(at('/etc/old.conf'), 'y\n');
    const drifts = await verifyMachine(host, after);
    expect(drifts).toMatchObject([{ kind: 'extra', name: '/etc/old.conf', diff: expect.stringContaining('+y') }]);
    expect(await heal(host, after, drifts)).toEqual([]);
    expect(await verifyMachine(host, after)).toEqual([]);
    expect(() => lstatSync(at('/etc/old.conf'))).toThrow('ENOENT');
  });

  it('is remembered across later configs', async () => {
    const { host, at } = await movedOn();
    const third = sampleConfig('rendered-worker-3', {});
    await bringTo(host, third, after);
    writeFileSync(at('/etc/old.conf'), 'y\n');
    expect(await verifyMachine(host, third)).toMatchObject([{ kind: 'extra', name: '/etc/old.conf' }]);
  });

  it('cannot exist below a path that became a file, and nothing fails', async () => {
    const { host, at } = await sampleMachine();
    const deep = sampleConfig('rendered-worker-1', { files: [sampleFile('/etc/deep/a', 'x\n')] });
    const named = sampleConfig('rendered-worker-2', { units: [{ name: 'crio.service' }] });
    await bringTo(host, deep);
    rmSync(at('/etc/deep'), { recursive: true });
    await bringTo(host, named, deep);
    writeFileSync(at('/etc/deep'), 'a file now\n');
    writeFileSync(at('/etc/systemd/system/crio.service.d'), 'and here too\n');
    expect(await verifyMachine(host, named)).toEqual([]);
    await recordBaseline(host, named, { ...named, name: 'rendered-worker-3' });
  });

  it('is reported without control characters in its name', async () => {
    const { host, at } = await movedOn();
    writeAt(at('/etc/systemd/system/crio.service.d/\u001b[2Jx.conf'), '[Service]\n');
    const [drift] = await verifyMachine(host, after);
    expect(drift?.name).toContain('\u001b');
    expect(`${drift?.message}${drift?.diff}`).not.toContain('\u001b');
  });

  it('is accepted if another config has it again', async () => {
    const { host } = await movedOn();
    await bringTo(host, before, after);
    expect(await verifyMachine(host, before)).toEqual([]);
  });

  it('is accepted if another program put it there before the config was reached', async () => {
    const { host, at } = await sampleMachine();
    writeAt(at('/etc/systemd/system/crio.service.d/50-vendor.conf'), '[Service]\n');
    await bringTo(host, after);
    expect(await verifyMachine(host, after)).toEqual([]);
    writeAt(at('/etc/systemd/system/crio.service.d/60-mine.conf'), '[Service]\n');
    expect(await verifyMachine(host, after)).toMatchObject([{ name: expect.stringContaining('60-mine.conf') }]);
  });

  it('is unknown without a baseline of this config', async () => {
    const { host, at } = await movedOn();
    writeFileSync(at('/etc/old.conf'), 'y\n');
    writeAt(at('/etc/systemd/system/crio.service.d/60-mine.conf'), '[Service]\n');
    const next = { ...after, name: 'rendered-worker-3' };
    expect(await verifyMachine(host, next)).toEqual([]);
    await recordBaseline(host, after, next);
    expect(await verifyMachine(host, next)).toEqual([]);
  });
});

describe('a link that enables a unit', () => {
  const LINKS = '/etc/systemd/system';
  const UNIT = '/usr/lib/systemd/system/crio.service';
  const config = sampleConfig('rendered-worker-1', { units: [{ name: 'crio.service', enabled: true }] });

  it('is not reported if the machine never had it: an OS update adds more of them, also without a new config', async () => {
    const { host, at } = await sampleMachine();
    await host.systemd.enable(['crio.service']);
    writeFileSync(at(UNIT), '[Install]\nWantedBy=multi-user.target a.target\n');
    await bringTo(host, config);
    expect((await readBaseline(host.files))?.linked).toEqual([`${LINKS}/multi-user.target.wants/crio.service`]);
    expect(await verifyMachine(host, config)).toEqual([]);
    writeFileSync(at(UNIT), '[Install]\nWantedBy=multi-user.target a.target b.target\nAlias=runtime.service\n');
    expect(await verifyMachine(host, config)).toEqual([]);
    rmSync(at(`${LINKS}/multi-user.target.wants/crio.service`));
    expect(await verifyMachine(host, config)).toMatchObject([
      { message: expect.stringContaining('found it disabled') },
    ]);
  });

  it('is not reported if there are too many to record them all', async () => {
    const { host, at } = await sampleMachine();
    const many = Array.from({ length: 400 }, (_, index) => `${'x'.repeat(200)}${index}.target`);
    writeFileSync(at(UNIT), `[Install]\n${many.map((name) => `WantedBy=${name}\n`).join('')}`);
    await bringTo(host, config);
    expect(await verifyMachine(host, config)).toEqual([]);
    const { linked = [] } = (await readBaseline(host.files)) ?? {};
    expect(linked.length).toBeLessThan(400);
    rmSync(at(linked[0] ?? ''));
    expect(await verifyMachine(host, config)).toMatchObject([{ kind: 'unit', name: 'crio.service' }]);
  });

  it.each([
    ['too long', 'x'.repeat(300)],
    ['with a NUL', 'a\0b.target'],
    ['of a path', '../../../a.target'],
    ['of a path in a path', 'a/b/c.target'],
  ])('is ignored if its name is none of a unit, and the check goes on: %s', async (_, name) => {
    const { host, at } = await sampleMachine();
    await bringTo(host, config);
    writeFileSync(at(UNIT), `[Install]\nWantedBy=multi-user.target ${name}\nAlias=${name}\n`);
    expect(await verifyMachine(host, config)).toEqual([]);
    await recordBaseline(host, null, { ...config, name: 'rendered-worker-2' });
    expect((await readBaseline(host.files))?.linked).toEqual([`${LINKS}/multi-user.target.wants/crio.service`]);
  });

  it('is not reported on the word of a baseline that an earlier version of the daemon recorded; the rest of it applies', async () => {
    const { host, at } = await sampleMachine();
    await bringTo(host, config);
    writeFileSync(at(BASELINE), `{"format":1,"config":"${config.name}","tolerated":[],"absent":["/etc/old.conf"]}\n`);
    writeFileSync(at(UNIT), '[Install]\nWantedBy=multi-user.target a.target\n');
    expect(await verifyMachine(host, config)).toEqual([]);
    writeFileSync(at('/etc/old.conf'), 'y\n');
    expect(await verifyMachine(host, config)).toMatchObject([{ kind: 'extra', name: '/etc/old.conf' }]);
  });

  it('is missing if it is another name of the unit that is gone', async () => {
    const { host, at } = await sampleMachine();
    writeFileSync(at(UNIT), '[Install]\nWantedBy=multi-user.target\nAlias=runtime.service\n');
    await bringTo(host, config);
    rmSync(at(`${LINKS}/runtime.service`));
    const drifts = await verifyMachine(host, config);
    expect(drifts).toMatchObject([{ kind: 'unit', message: expect.stringContaining(`no ${LINKS}/runtime.service`) }]);
    expect(await heal(host, config, drifts)).toEqual([]);
    expect(await verifyMachine(host, config)).toEqual([]);
  });

  it('is not reported if a unit that is still enabled no longer requests it, or cannot be read', async () => {
    const { host, at } = await sampleMachine();
    writeFileSync(at(UNIT), '[Install]\nWantedBy=multi-user.target a.target\n');
    await bringTo(host, config);
    rmSync(at(`${LINKS}/a.target.wants/crio.service`));
    writeFileSync(at(UNIT), '[Install]\nWantedBy=multi-user.target\n');
    expect(await verifyMachine(host, config)).toEqual([]);
    expect(await findMissingLinks(host.files, 'none.service')).toEqual([]);
    writeFileSync(at(`${LINKS}/crio.service.d`), 'no directory\n');
    expect(await findMissingLinks(host.files, 'crio.service')).toEqual([]);
  });
});

const KEYS = { name: 'core', sshAuthorizedKeys: ['ssh-ed25519 AAAA me'] };
