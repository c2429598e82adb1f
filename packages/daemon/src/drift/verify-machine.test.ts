import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FileSystem } from '../host/file-system.ts';
import { recordBaseline } from './baseline.ts';
import type { Drift } from './drift.ts';
import { heal } from './heal.ts';
import {
  bringTo,
  IMAGE,
  packedFile,
  sampleConfig,
  sampleFile,
  sampleMachine,
  type SampleMachine,
  SERVICE,
} from './sample-machine.ts';
import { verifyMachine } from './verify-machine.ts';
import { createVerifyMemory } from './verify-memory.ts';

const isRoot = process.getuid?.() === 0;

async function everything() {
  return sampleConfig(
    'rendered-worker-1',
    {
      files: [
        sampleFile('/etc/chrony.conf', 'server a\nserver b\nserver c\n'),
        sampleFile('/etc/first', 'one\n'),
        sampleFile('/etc/secret.conf', 'password=hunter2\n', { mode: 0o600 }),
        sampleFile('/etc/image.bin', 'a\u0000b'),
        await packedFile('/etc/packed.txt', 'line 1\nline 2\nline 3\n'),
        { path: '/etc/hostname', append: [{ source: 'data:,worker%0A' }] },
      ],
      directories: [{ path: '/etc/sample.d', mode: 0o750 }],
      links: [
        { path: '/etc/localtime', target: '../usr/share/zoneinfo/UTC' },
        { path: '/etc/second', target: '/etc/first', hard: true },
      ],
      units: [
        {
          name: 'sample.service',
          enabled: true,
          contents: SERVICE,
          dropins: [{ name: '10-a.conf', contents: '[Service]\n' }],
        },
        { name: 'crio.service', enabled: true },
        { name: 'sshd.service', enabled: false },
        { name: 'bad.service', mask: true, enabled: true },
        { name: 'chronyd.service', mask: false },
      ],
      users: [{ name: 'core', sshAuthorizedKeys: ['ssh-ed25519 AAAA me'], passwordHash: '$6$salt$hash' }],
    },
    { kernelArguments: ['quiet a=b'], extensions: [] },
  );
}

interface MachineAtConfig extends SampleMachine {
  readonly check: () => Promise<Drift[]>;
  readonly healAll: () => Promise<void>;
}

async function machineAtConfig(): Promise<MachineAtConfig> {
  const files = { '/etc/hostname': 'simulated\nworker\n' };
  const machine = await sampleMachine({ kernelArguments: ['quiet', 'a=b'], files });
  const config = await bringTo(machine.host, await everything());
  const check = () => verifyMachine(machine.host, config);
  return {
    ...machine,
    check,
    async healAll() {
      expect(await heal(machine.host, config, await check())).toEqual([]);
    },
  };
}

interface DriftCase {
  readonly name: string;
  readonly change: (at: (path: string) => string) => void;
  readonly expected: Partial<Drift>;
  readonly needsRoot?: true;
}

const cases: readonly DriftCase[] = [
  {
    name: 'a file with another line in it',
    change: (at) => writeFileSync(at('/etc/chrony.conf'), 'server a\nserver x\nserver c\n'),
    expected: {
      kind: 'file',
      name: '/etc/chrony.conf',
      message: 'file /etc/chrony.conf: expected contents of 27 bytes, found other contents of 27 bytes',
      diff: [
        '--- /etc/chrony.conf (config)',
        '+++ /etc/chrony.conf (machine)',
        '@@ -1,3 +1,3 @@',
        ' server a',
        '-server b',
        '+server x',
        ' server c',
        '',
      ].join('\n'),
    },
  },
  {
    name: 'compressed content, compared unpacked',
    change: (at) => writeFileSync(at('/etc/packed.txt'), 'line 1\nline 3\n'),
    expected: { kind: 'file', name: '/etc/packed.txt', diff: expect.stringContaining('-line 2') },
  },
  {
    name: 'a file with other permissions',
    change: (at) => chmodSync(at('/etc/chrony.conf'), 0o666),
    expected: { kind: 'permission', message: 'file /etc/chrony.conf: expected mode 0644, found 0666' },
  },
  {
    name: 'a file with the setuid bit',
    change: (at) => chmodSync(at('/etc/chrony.conf'), 0o4644),
    expected: { kind: 'permission', message: 'file /etc/chrony.conf: expected mode 0644, found 4644' },
  },
  {
    name: 'a file of another owner',
    change: (at) => chownSync(at('/etc/chrony.conf'), 12, 34),
    expected: { kind: 'owner', message: 'file /etc/chrony.conf: expected owner 0:0, found 12:34' },
    needsRoot: true,
  },
  {
    name: 'a deleted file',
    change: (at) => rmSync(at('/etc/chrony.conf')),
    expected: { kind: 'missing', message: 'file /etc/chrony.conf: expected a file, found nothing' },
  },
  {
    name: 'a link in place of a file',
    change: (at) => {
      rmSync(at('/etc/chrony.conf'));
      symlinkSync('/etc/shadow', at('/etc/chrony.conf'));
    },
    expected: { kind: 'file', message: 'file /etc/chrony.conf: expected a file, found a link to /etc/shadow' },
  },
  {
    name: 'a directory in place of a file',
    change: (at) => {
      rmSync(at('/etc/packed.txt'));
      mkdirSync(at('/etc/packed.txt'));
    },
    expected: { kind: 'file', message: 'file /etc/packed.txt: expected a file, found a directory' },
  },
  {
    name: 'a link that leads elsewhere',
    change: (at) => {
      rmSync(at('/etc/localtime'));
      symlinkSync('/tmp', at('/etc/localtime'));
    },
    expected: {
      kind: 'link',
      message: 'link /etc/localtime: expected it to lead to ../usr/share/zoneinfo/UTC, found /tmp',
    },
  },
  {
    name: 'a second name that has become a file of its own',
    change: (at) => {
      rmSync(at('/etc/second'));
      writeFileSync(at('/etc/second'), 'one\n');
    },
    expected: {
      kind: 'link',
      message: 'hard link /etc/second: expected a second name of /etc/first, found a file of its own',
    },
  },
  {
    name: 'a directory with other permissions',
    change: (at) => chmodSync(at('/etc/sample.d'), 0o777),
    expected: { kind: 'permission', name: '/etc/sample.d' },
  },
  {
    name: 'a deleted directory',
    change: (at) => rmSync(at('/etc/sample.d'), { recursive: true }),
    expected: { kind: 'missing', message: 'directory /etc/sample.d: expected a directory, found nothing' },
  },
  {
    name: 'a changed unit',
    change: (at) => writeFileSync(at('/etc/systemd/system/sample.service'), SERVICE.replace('true', 'false')),
    expected: { kind: 'file', name: '/etc/systemd/system/sample.service' },
  },
  {
    name: 'a changed drop-in',
    change: (at) => writeFileSync(at('/etc/systemd/system/sample.service.d/10-a.conf'), '[Service]\nNice=1\n'),
    expected: { kind: 'file', diff: expect.stringContaining('+Nice=1') },
  },
  {
    name: 'a drop-in that the config does not have',
    change: (at) => write(at('/etc/systemd/system/crio.service.d/99-mine.conf'), '[Service]\nNice=1\n'),
    expected: {
      kind: 'extra',
      name: '/etc/systemd/system/crio.service.d/99-mine.conf',
      diff: expect.stringContaining('+Nice=1'),
    },
  },
  {
    name: 'a new unit in place of that of the OS',
    change: (at) => write(at('/etc/systemd/system/crio.service'), SERVICE),
    expected: { kind: 'extra', name: '/etc/systemd/system/crio.service' },
  },
  {
    name: 'a mask that is gone',
    change: (at) => rmSync(at('/etc/systemd/system/bad.service')),
    expected: { kind: 'missing', name: '/etc/systemd/system/bad.service' },
  },
  {
    name: 'a unit that is masked and must not be',
    change: (at) => symlinkSync('/dev/null', at('/etc/systemd/system/chronyd.service')),
    expected: { kind: 'unit', message: 'unit chronyd.service: expected it not to be masked, found it masked' },
  },
  {
    name: 'a unit that is no longer enabled',
    change: (at) => rmSync(at('/etc/systemd/system/multi-user.target.wants/sample.service')),
    expected: { kind: 'unit', message: 'unit sample.service: expected it enabled, found it disabled' },
  },
  {
    name: 'a unit that is enabled and must not be',
    change: (at) =>
      symlinkSync(
        '/usr/lib/systemd/system/sshd.service',
        at('/etc/systemd/system/multi-user.target.wants/sshd.service'),
      ),
    expected: { kind: 'unit', message: 'unit sshd.service: expected it disabled, found it enabled' },
  },
  {
    name: 'other ssh keys',
    change: (at) => writeFileSync(at('/var/home/core/.ssh/authorized_keys.d/ignition'), 'ssh-ed25519 BBBB you\n'),
    expected: { kind: 'ssh keys', name: 'core' },
  },
  {
    name: 'ssh keys that others may read',
    change: (at) => chmodSync(at('/var/home/core/.ssh/authorized_keys.d/ignition'), 0o644),
    expected: { kind: 'ssh keys', message: expect.stringContaining('expected mode 0600, found 0644') },
  },
  {
    name: 'another password, without the hash',
    change: (at) => writeFileSync(at('/etc/shadow'), 'root:*:::::::\ncore:$6$other$thing:::::::\n'),
    expected: {
      kind: 'password',
      message: 'user core: expected the password hash of the config in /etc/shadow, found another one',
      diff: '',
    },
  },
];

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

describe('a machine that is as its config says', () => {
  it('has no drift', async () => {
    const { check } = await machineAtConfig();
    expect(await check()).toEqual([]);
  });

  it('has none either when a file was rewritten with the same bytes', async () => {
    const { at, check } = await machineAtConfig();
    writeFileSync(at('/etc/chrony.conf'), readFileSync(at('/etc/chrony.conf')));
    utimesSync(at('/etc/chrony.conf'), 1, 1);
    expect(await check()).toEqual([]);
  });

  it('may have anything before what the config appends to a file of the OS', async () => {
    const { at, check } = await machineAtConfig();
    writeFileSync(at('/etc/hostname'), 'another beginning\nworker\n');
    expect(await check()).toEqual([]);
  });
});

describe('drift is told, and can be put back', () => {
  for (const { name, change, expected, needsRoot } of cases) {
    const isSkipped = needsRoot === true && !isRoot;
    it.skipIf(isSkipped)(`${name}${isSkipped ? ' (SKIPPED: only root can change owners)' : ''}`, async () => {
      const { at, check, healAll } = await machineAtConfig();
      change(at);
      const drifts = await check();
      expect(drifts).toHaveLength(1);
      expect(drifts[0]).toMatchObject({ ...expected, canHeal: true });
      await healAll();
      expect(await check()).toEqual([]);
    });
  }

  it('tells contents and mode of one file each', async () => {
    const { at, check, healAll } = await machineAtConfig();
    writeFileSync(at('/etc/chrony.conf'), '');
    chmodSync(at('/etc/chrony.conf'), 0o600);
    expect((await check()).map(({ kind }) => kind)).toEqual(['file', 'permission']);
    await healAll();
    expect(await check()).toEqual([]);
  });

  it('gives a file that is put back its second names again', async () => {
    const { at, check, healAll } = await machineAtConfig();
    rmSync(at('/etc/first'));
    expect((await check()).map(({ name }) => name)).toEqual(['/etc/first', '/etc/second']);
    await healAll();
    writeFileSync(at('/etc/first'), 'two\n');
    expect((await check()).map(({ name }) => name)).toEqual(['/etc/first']);
    await healAll();
    expect(await check()).toEqual([]);
    expect(lstatSync(at('/etc/second')).ino).toBe(lstatSync(at('/etc/first')).ino);
  });
});

describe('what cannot be put back by writing', () => {
  it('is a line that the config appends to a file of the OS, whose beginning nobody knows', async () => {
    const { at, check } = await machineAtConfig();
    rmSync(at('/etc/hostname'));
    expect(await check()).toMatchObject([{ kind: 'missing', name: '/etc/hostname', canHeal: false }]);
    writeFileSync(at('/etc/hostname'), 'another\n');
    expect(await check()).toMatchObject([
      {
        message: "file /etc/hostname: expected the config's 7 bytes at its end, found others among 8 bytes",
        diff: '',
        canHeal: false,
      },
    ]);
  });

  it('is the OS: its image, kernel arguments, kernel, extensions and FIPS', async () => {
    const { host } = await sampleMachine({ kernelArguments: ['quiet'] });
    const other = `quay.example/os@sha256:${'b'.repeat(64)}`;
    const config = sampleConfig(
      'rendered-worker-2',
      {},
      {
        osImageURL: other,
        kernelArguments: ['quiet', 'a=b'],
        kernelType: 'realtime',
        extensions: ['usbguard'],
        fips: true,
      },
    );
    const drifts = await verifyMachine(host, config);
    expect(drifts.map(({ kind, canHeal }) => [kind, canHeal])).toEqual([
      ['os image', false],
      ['kernel arguments', false],
      ['extensions', false],
      ['kernel type', false],
      ['fips', false],
    ]);
    expect(drifts[0]?.message).toBe(`spec.osImageURL: expected ${other}, the machine runs with ${IMAGE}`);
    expect(drifts[1]?.message).toContain('expected also a=b, the machine runs with root=');
  });
});

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

  it('is one that an earlier config had', async () => {
    const { host, at } = await movedOn();
    expect(await verifyMachine(host, after)).toEqual([]);
    writeFileSync(at('/etc/old.conf'), 'y\n');
    const drifts = await verifyMachine(host, after);
    expect(drifts).toMatchObject([{ kind: 'extra', name: '/etc/old.conf', diff: expect.stringContaining('+y') }]);
    expect(await heal(host, after, drifts)).toEqual([]);
    expect(await verifyMachine(host, after)).toEqual([]);
    expect(() => lstatSync(at('/etc/old.conf'))).toThrow('ENOENT');
  });

  it('is remembered over the configs that follow', async () => {
    const { host, at } = await movedOn();
    const third = sampleConfig('rendered-worker-3', {});
    await bringTo(host, third, after);
    writeFileSync(at('/etc/old.conf'), 'y\n');
    expect(await verifyMachine(host, third)).toMatchObject([{ kind: 'extra', name: '/etc/old.conf' }]);
  });

  it('cannot be below what has become a file, and nothing fails for that', async () => {
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

  it('is told by its name without what would disturb a terminal', async () => {
    const { host, at } = await movedOn();
    write(at('/etc/systemd/system/crio.service.d/\u001b[2Jx.conf'), '[Service]\n');
    const [drift] = await verifyMachine(host, after);
    expect(drift?.name).toContain('\u001b');
    expect(`${drift?.message}${drift?.diff}`).not.toContain('\u001b');
  });

  it('is none that another config has again', async () => {
    const { host } = await movedOn();
    await bringTo(host, before, after);
    expect(await verifyMachine(host, before)).toEqual([]);
  });

  it('is not what other programs had put there before the config was reached', async () => {
    const { host, at } = await sampleMachine();
    write(at('/etc/systemd/system/crio.service.d/50-vendor.conf'), '[Service]\n');
    await bringTo(host, after);
    expect(await verifyMachine(host, after)).toEqual([]);
    write(at('/etc/systemd/system/crio.service.d/60-mine.conf'), '[Service]\n');
    expect(await verifyMachine(host, after)).toMatchObject([{ name: expect.stringContaining('60-mine.conf') }]);
  });

  it('is not known while no baseline of this config was recorded', async () => {
    const { host, at } = await movedOn();
    writeFileSync(at('/etc/old.conf'), 'y\n');
    write(at('/etc/systemd/system/crio.service.d/60-mine.conf'), '[Service]\n');
    const next = { ...after, name: 'rendered-worker-3' };
    expect(await verifyMachine(host, next)).toEqual([]);
    await recordBaseline(host, after, next);
    expect(await verifyMachine(host, next)).toEqual([]);
  });
});

describe('a path that cannot be looked at', () => {
  it('is drift with the reason: a link that leads out of the machine', async () => {
    const { host, at } = await sampleMachine();
    const config = sampleConfig('rendered-worker-1', { files: [sampleFile('/etc/a/b.conf', 'x\n')] });
    symlinkSync('../../../../../../../../../../tmp', at('/etc/a'));
    const [drift] = await verifyMachine(host, config);
    expect(drift).toMatchObject({ kind: 'file', name: '/etc/a/b.conf', canHeal: false });
  });

  it('is drift with the reason: an owner who is not on the machine', async () => {
    const { host } = await sampleMachine();
    const config = sampleConfig('rendered-worker-1', {
      files: [sampleFile('/etc/a.conf', 'x\n', { user: { name: 'nobody-here' } })],
    });
    const [drift] = await verifyMachine(host, config);
    expect(drift?.message).toContain('nobody-here');
  });

  it('is an error that names the config, where the config itself cannot be read', async () => {
    const { host } = await sampleMachine();
    const config = { name: 'rendered-worker-9', spec: { config: { ignition: { version: '9.9.9' } } } };
    await expect(verifyMachine(host, config)).rejects.toMatchObject({
      code: 'SLW_DAEMON_CONFIG',
      message: expect.stringContaining('rendered-worker-9'),
    });
  });
});

describe('a second check', () => {
  it('reads none of 1,000 files that did not change, and takes well under a second', { timeout: 20_000 }, async () => {
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
    for (const name of names) write(at(name), text(name));
    const config = sampleConfig('rendered-worker-1', { files: names.map((name) => sampleFile(name, text(name))) });
    // As if a while had passed: what has just changed is not trusted.
    const memory = createVerifyMemory(() => Date.now() + 60_000);
    expect(await verifyMachine(host, config, { memory })).toEqual([]);
    expect(reads).toBeGreaterThanOrEqual(1000);
    reads = 0;
    // Of the processor, so that what else runs on this machine plays no part.
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

  it('does not trust a file that changed just before it was read', async () => {
    const { host, at } = await sampleMachine();
    const config = await bringTo(host, sampleConfig('rendered-worker-1', { files: [sampleFile('/etc/a', 'a')] }));
    // The clock of the file system stands still, as it does for some milliseconds.
    const { changedMs } = lookedAt(await host.files.lookAt('/etc/a'));
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

type Found = Awaited<ReturnType<FileSystem['lookAt']>>;

function lookedAt(found: Found): Extract<Found, { kind: 'file' }> {
  if (found?.kind !== 'file') throw new Error('no file');
  return found;
}

function freeze(found: Found, changedMs: number): Found {
  return found?.kind === 'file' ? { ...found, changedMs } : found;
}
