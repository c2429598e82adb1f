// Laws for any two configs, on a simulated machine in memory.
import {
  type DiskEntry,
  buildDiskPlan,
  type NodeDisruptionPolicy,
  planUpdate,
  readMachineConfig,
} from '@slipway/fleet';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DaemonError } from '../errors.ts';
import { type FileSystem, ownOwners } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';
import { dataUrl, machineOn, makeSmallMachine, named, type Spec, textAt } from './testing/small-machine.ts';
import { differences, type Snapshot, takeSnapshot } from './testing/snapshot.ts';

// Some are parents of others: a file in one config may be a directory in the next. Some exist in the OS too.
const paths = fc.constantFrom(
  '/etc/a',
  '/etc/a/b',
  '/etc/a/b/c',
  '/etc/motd',
  '/etc/d/x',
  '/home/core/n',
  '/usr/local/z',
);
const texts = fc.constantFrom('', 'one\n', 'two\n', 'three\n');
const modes = fc.constantFrom(0o644, 0o600, 0o755);

const things = fc
  .uniqueArray(fc.record({ path: paths, mode: modes, text: texts }), { selector: ({ path }) => path, maxLength: 5 })
  .filter((all) => !all.some(({ path }) => all.some((other) => path.startsWith(`${other.path}/`))));

const contents = fc.constantFrom(
  '[Service]\nExecStart=/bin/a\n[Install]\nWantedBy=multi-user.target\n',
  '[Service]\nExecStart=/bin/b\n[Install]\nWantedBy=graphical.target\n',
  '[Service]\nExecStart=/bin/c\n',
);
const units = fc.uniqueArray(
  fc.oneof(
    fc.record({ name: fc.constantFrom('a.service', 'b.service'), enabled: fc.boolean(), contents }),
    fc.record({ name: fc.constantFrom('a.service', 'b.service', 'crio.service'), mask: fc.constant(true) }),
    fc.record({
      name: fc.constant('crio.service'),
      dropins: fc.constantFrom([{ name: '10-a.conf', contents: '[Unit]\n' }], [{ name: '10-a.conf', contents: '' }]),
    }),
  ),
  { selector: ({ name }) => name },
);

const core = fc.record(
  {
    sshAuthorizedKeys: fc.uniqueArray(fc.constantFrom('ssh-ed25519 A', 'ssh-ed25519 B')),
    passwordHash: fc.constantFrom('$6$one', '$6$two'),
  },
  { requiredKeys: [] },
);

const specs: fc.Arbitrary<Spec> = fc.record({
  config: fc.record({ things, units, core: fc.option(core) }).map((each) => ({
    ignition: { version: '3.5.0' },
    storage: {
      files: each.things.map(({ path, mode, text }) => ({ path, mode, contents: { source: dataUrl(text) } })),
    },
    systemd: { units: each.units },
    passwd: { users: each.core === null ? [] : [{ name: 'core', ...each.core }] },
  })),
  kernelArguments: fc.uniqueArray(fc.constantFrom('nosmt', 'quiet', 'console=a'), { maxLength: 3 }),
  osImageURL: fc.constantFrom('quay.io/os@1', 'quay.io/os@2'),
});

const OS = { osImage: 'quay.io/os@1', files: { '/etc/motd': 'of the OS\n' } };

async function machineAt(spec: Spec): Promise<ReturnType<typeof makeSmallMachine>> {
  const machine = await makeSmallMachine(OS);
  expect(await machine.update(named('a', spec))).toMatchObject({ outcome: 'new' });
  return machine;
}

/** Parent directories of a config's files do not belong to the config: they may stay when the files are removed. */
function withoutDirectories(snapshot: Snapshot): Snapshot {
  return new Map([...snapshot].filter(([, what]) => !what.startsWith('directory')));
}

const check = (numRuns: number, property: (a: Spec, b: Spec) => Promise<void>) =>
  fc.assert(fc.asyncProperty(specs, specs, property), { numRuns });

describe('for any two configs, on a simulated machine', () => {
  it('the update produces exactly the disk that the second config describes', async () => {
    const fresh = await takeSnapshot((await makeSmallMachine(OS)).files);
    await check(40, async (a, b) => {
      const machine = await machineAt(a);
      expect(await machine.update(named('b', b))).toMatchObject({ outcome: 'new' });
      await expectDisk(machine.files, fresh, b);
    });
  });

  it('the disk is the same as on a machine that never had the first config', async () => {
    await check(40, async (a, b) => {
      const [machine, other] = [await machineAt(a), await makeSmallMachine(OS)];
      await machine.update(named('b', b));
      await other.update(named('b', b));
      const [found, expected] = [await takeSnapshot(machine.files), await takeSnapshot(other.files)];
      expect(differences(withoutDirectories(expected), withoutDirectories(found)).filter(isOfConfig)).toEqual([]);
    });
  });

  it('an update followed by its reverse ends at the first config', async () => {
    await check(40, async (a, b) => {
      const machine = await machineAt(a);
      const before = await takeSnapshot(machine.files);
      await machine.update(named('b', b));
      expect(await machine.update(named('a', a))).toMatchObject({ outcome: 'new' });
      const after = await takeSnapshot(machine.files);
      expect(differences(withoutDirectories(before), withoutDirectories(after)).filter(isOfConfig)).toEqual([]);
    });
  });

  it.each<[string, (host: Host) => Host]>([
    ['a post action', (host) => ({ ...host, systemd: { ...host.systemd, reload: fail } })],
    ['the second post action', (host) => ({ ...host, systemd: { ...host.systemd, restart: fail } })],
    [
      'enabling a unit',
      (host) => ({ ...host, systemd: { ...host.systemd, enable: failOnce((units) => host.systemd.enable(units)) } }),
    ],
    ['the OS', (host) => ({ ...host, os: { ...host.os, stage: fail } })],
    ['the reboot', (host) => ({ ...host, reboot: fail })],
  ])('one that fails at %s leaves exactly the first config, including directories', async (what, broken) => {
    const isPostAction = what.includes('post action');
    let failed = 0;
    await check(30, async (a, b) => {
      const machine = await machineAt(a);
      const before = await takeSnapshot(machine.files);
      const to = isPostAction ? { ...a, config: b.config ?? {} } : b;
      const policy = isPostAction ? buildPolicy(SERVICE_ACTIONS) : buildPolicy([{ type: 'None' }]);
      const result = await machineOn(machine.files, machine.at(), broken).update(named('b', to), policy);
      if (result.outcome === 'new') return;
      failed += 1;
      expect(result).toMatchObject({ outcome: 'old', problem: { code: 'SLW_DAEMON_UNIT' } });
      expect(differences(before, await takeSnapshot(machine.files))).toEqual([]);
    });
    expect(failed).toBeGreaterThan(3);
  });

  it('an update to an equal config changes nothing but the name', async () => {
    await check(30, async (a) => {
      const machine = await machineAt(a);
      const before = await takeSnapshot(machine.files);
      expect((await planUpdate({ current: named('a', a), desired: named('b', a) })).isEmpty).toBe(true);
      expect(await machine.update(named('b', a))).toMatchObject({ outcome: 'new' });
      expect(differences(before, await takeSnapshot(machine.files)).filter(isOfConfig)).toEqual([]);
    });
  });
});

/** The name of the config differs, and the config does not define the order of all kernel arguments. */
function isOfConfig(difference: string): boolean {
  return !/^\/etc\/machine-config-daemon\/|^\/var\/lib\/slipway-simulated\//.test(difference);
}

type Actions = NonNullable<NodeDisruptionPolicy['files']>[number]['actions'];

const SERVICE_ACTIONS: Actions = [
  { type: 'Reload', reload: { serviceName: 'crio.service' } },
  { type: 'Restart', restart: { serviceName: 'kubelet.service' } },
];

/** The same actions for every change except the OS. */
function buildPolicy(actions: Actions): NodeDisruptionPolicy {
  const units = ['a.service', 'b.service', 'crio.service'].map((name) => ({ name, actions }));
  return { files: [{ path: '/', actions }], units, sshkey: { actions } };
}

const fail = () => Promise.reject(new DaemonError('SLW_DAEMON_UNIT', 'refused'));

function failOnce(enable: Host['systemd']['enable']): Host['systemd']['enable'] {
  let calls = 0;
  return (units) => {
    calls += 1;
    return calls === 1 ? fail() : enable(units);
  };
}

/** Computed from the config itself, without the updater: the files of the OS, overlaid with those of the config. */
async function expectDisk(files: FileSystem, fresh: Snapshot, spec: Spec): Promise<void> {
  const read = await readMachineConfig({ metadata: { name: 'b' }, spec });
  if (!read.ok) throw new Error('the config cannot be read');
  const { entries, users } = await buildDiskPlan(read.input.config);
  const [keys] = users.flatMap(({ sshKeys }) => sshKeys ?? []);
  for (const entry of entries) await expectEntry(files, entry);
  const expected = new Set([
    ...withoutDirectories(fresh).keys(),
    ...entries.map(({ path }) => path.replace(/^\/home\//, '/var/home/').replace(/^\/usr\/local\//, '/var/usrlocal/')),
    ...(keys === undefined ? [] : [KEYS]),
  ]);
  const snapshot = withoutDirectories(await takeSnapshot(files));
  expect(new Set(snapshot.keys()).difference(expected).difference(listEnabledLinks(snapshot))).toEqual(new Set());
  expect(await textAt(files, KEYS)).toBe(keys === undefined ? null : Buffer.from(keys.bytes).toString());
  const ofConfig = entries.find(({ path }) => path === '/etc/motd');
  const motd = ofConfig?.kind === 'file' ? Buffer.from(ofConfig.bytes).toString() : 'of the OS\n';
  expect(await textAt(files, '/etc/motd')).toBe(motd);
}

const KEYS = '/var/home/core/.ssh/authorized_keys.d/ignition';

function listEnabledLinks(snapshot: Snapshot): Set<string> {
  return new Set([...snapshot.keys()].filter((path) => /^\/etc\/systemd\/system\/[^/]+\.wants\//.test(path)));
}

async function expectEntry(files: FileSystem, entry: DiskEntry): Promise<void> {
  const { uid, gid } = ownOwners();
  const found = await files.lookAt(entry.path);
  if (entry.kind === 'link') expect(found).toEqual({ kind: 'link', target: entry.target, uid, gid });
  if (entry.kind !== 'file') return;
  expect(found).toMatchObject({ kind: 'file', mode: entry.mode, uid, gid });
  expect(await textAt(files, entry.path)).toBe(Buffer.from(entry.bytes).toString());
}
