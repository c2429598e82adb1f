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
import { describe, expect, it } from 'vitest';
import { type DriftCase, howToRun, machineAtConfig } from './testing/machine-at-config.ts';
import { IMAGE, sampleConfig, sampleFile, sampleMachine, SERVICE, writeAt } from './testing/sample-machine.ts';
import { verifyMachine } from './verify-machine.ts';

const cases: readonly DriftCase[] = [
  {
    name: 'a file with a changed line',
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
    name: 'compressed contents, compared after decompression',
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
    name: 'a link with another target',
    change: (at) => {
      rmSync(at('/etc/localtime'));
      symlinkSync('/tmp', at('/etc/localtime'));
    },
    expected: {
      kind: 'link',
      message: 'link /etc/localtime: expected a link to ../usr/share/zoneinfo/UTC, found a link to /tmp',
    },
  },
  {
    name: 'a hard link that became a separate file',
    change: (at) => {
      rmSync(at('/etc/second'));
      writeFileSync(at('/etc/second'), 'one\n');
    },
    expected: {
      kind: 'link',
      message: 'hard link /etc/second: expected a hard link to /etc/first, found a file that is not linked to it',
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
    change: (at) => writeAt(at('/etc/systemd/system/crio.service.d/99-mine.conf'), '[Service]\nNice=1\n'),
    expected: {
      kind: 'extra',
      name: '/etc/systemd/system/crio.service.d/99-mine.conf',
      diff: expect.stringContaining('+Nice=1'),
    },
  },
  {
    name: 'a new unit that replaces one of the OS',
    change: (at) => writeAt(at('/etc/systemd/system/crio.service'), SERVICE),
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
    expected: { kind: 'unit', message: 'unit chronyd.service: expected it to be unmasked, found it masked' },
  },
  {
    name: 'a unit that is no longer enabled',
    change: (at) => rmSync(at('/etc/systemd/system/multi-user.target.wants/sample.service')),
    expected: { kind: 'unit', message: 'unit sample.service: expected it to be enabled, found it disabled' },
  },
  {
    name: 'a unit that is still enabled, but has lost one of its links',
    change: (at) => rmSync(at('/etc/systemd/system/graphical.target.wants/twice.service')),
    expected: {
      kind: 'unit',
      name: 'twice.service',
      message:
        'unit twice.service: expected it to be enabled with all links of its [Install] section, found no /etc/systemd/system/graphical.target.wants/twice.service',
    },
  },
  {
    name: 'a unit that is enabled and must not be',
    change: (at) =>
      symlinkSync(
        '/usr/lib/systemd/system/sshd.service',
        at('/etc/systemd/system/multi-user.target.wants/sshd.service'),
      ),
    expected: { kind: 'unit', message: 'unit sshd.service: expected it to be disabled, found it enabled' },
  },
  {
    name: 'other ssh keys',
    change: (at) => writeFileSync(at('/var/home/core/.ssh/authorized_keys.d/ignition'), 'ssh-ed25519 BBBB you\n'),
    expected: { kind: 'ssh keys', name: 'core' },
  },
  {
    name: 'ssh keys that other users may read',
    change: (at) => chmodSync(at('/var/home/core/.ssh/authorized_keys.d/ignition'), 0o644),
    expected: { kind: 'ssh keys', message: expect.stringContaining('expected mode 0600, found 0644') },
  },
  {
    name: 'another password, without the hash',
    change: (at) => writeFileSync(at('/etc/shadow'), 'root:*:::::::\ncore:$6$other$thing:::::::\n'),
    expected: {
      kind: 'password',
      message: 'user core: expected the config’s password hash in /etc/shadow, found another one',
      diff: '',
    },
  },
];

describe('a machine that matches its config', () => {
  it('has no drift', async () => {
    const { check } = await machineAtConfig();
    expect(await check()).toEqual([]);
  });

  it('has none after a file was rewritten with the same bytes', async () => {
    const { at, check } = await machineAtConfig();
    writeFileSync(at('/etc/chrony.conf'), readFileSync(at('/etc/chrony.conf')));
    utimesSync(at('/etc/chrony.conf'), 1, 1);
    expect(await check()).toEqual([]);
  });

  it('may have anything before the part that the config appends to a file of the OS', async () => {
    const { at, check } = await machineAtConfig();
    writeFileSync(at('/etc/hostname'), 'another beginning\nworker\n');
    expect(await check()).toEqual([]);
  });
});

describe('drift is reported, and can be healed', () => {
  for (const drifting of cases) {
    const { isSkipped, note } = howToRun(drifting);
    it.skipIf(isSkipped)(`${drifting.name}${note}`, async () => {
      const { change, expected } = drifting;
      const { at, check, healAll } = await machineAtConfig();
      change(at);
      const drifts = await check();
      expect(drifts).toHaveLength(1);
      expect(drifts[0]).toMatchObject({ ...expected, canHeal: true });
      await healAll();
      expect(await check()).toEqual([]);
    });
  }

  it('reports contents and mode of a file separately', async () => {
    const { at, check, healAll } = await machineAtConfig();
    writeFileSync(at('/etc/chrony.conf'), '');
    chmodSync(at('/etc/chrony.conf'), 0o600);
    expect((await check()).map(({ kind }) => kind)).toEqual(['file', 'permission']);
    await healAll();
    expect(await check()).toEqual([]);
  });

  it('recreates the hard links of a healed file', async () => {
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

describe('drift that cannot be healed by writing', () => {
  it('is a line that the config appends to a file of the OS, because the rest of the file is unknown', async () => {
    const { at, check } = await machineAtConfig();
    rmSync(at('/etc/hostname'));
    expect(await check()).toMatchObject([{ kind: 'missing', name: '/etc/hostname', canHeal: false }]);
    writeFileSync(at('/etc/hostname'), 'another\n');
    expect(await check()).toMatchObject([
      {
        message:
          "file /etc/hostname: expected the config's 7 bytes at its end, found other contents (8 bytes in total)",
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

describe('a path that cannot be read', () => {
  it('is drift with the reason: a link out of the machine', async () => {
    const { host, at } = await sampleMachine();
    const config = sampleConfig('rendered-worker-1', { files: [sampleFile('/etc/a/b.conf', 'x\n')] });
    symlinkSync('../../../../../../../../../../tmp', at('/etc/a'));
    const [drift] = await verifyMachine(host, config);
    expect(drift).toMatchObject({ kind: 'file', name: '/etc/a/b.conf', canHeal: false });
  });

  it('is drift with the reason: an owner that does not exist on the machine', async () => {
    const { host } = await sampleMachine();
    const config = sampleConfig('rendered-worker-1', {
      files: [sampleFile('/etc/a.conf', 'x\n', { user: { name: 'nobody-here' } })],
    });
    const [drift] = await verifyMachine(host, config);
    expect(drift?.message).toContain('nobody-here');
  });

  it('is an error that names the config, if the config itself cannot be read', async () => {
    const { host } = await sampleMachine();
    const config = { name: 'rendered-worker-9', spec: { config: { ignition: { version: '9.9.9' } } } };
    await expect(verifyMachine(host, config)).rejects.toMatchObject({
      code: 'SLW_DAEMON_CONFIG',
      message: expect.stringContaining('rendered-worker-9'),
    });
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

  it('shows nothing of a file that was secret and is now world-readable', async () => {
    const { at, check } = await machineAtConfig();
    writeFileSync(at('/etc/secret.conf'), 'password=hunter3\n');
    chmodSync(at('/etc/secret.conf'), 0o644);
    expect(JSON.stringify(await check())).not.toContain('hunter');
  });

  it('shows the sizes of binary files', async () => {
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
