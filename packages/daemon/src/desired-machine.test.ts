import { createHash } from 'node:crypto';
import { buildDiskPlan, type RenderedIgnition } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import { type DesiredEntry, loadDesiredMachine } from './desired-machine.ts';

const ignition = { version: '3.5.0' as const };
const config: RenderedIgnition = {
  ignition,
  storage: {
    files: [
      { path: '/etc/b', mode: 0o600, contents: { source: 'data:,b' }, append: [{ source: 'data:;base64,Yg==' }] },
      { path: '/etc/a', append: [{ source: 'data:,a' }] },
      { path: '/etc/n', mode: 0o640, user: { id: 7 }, append: [{ source: 'data:,n' }] },
    ],
    directories: [{ path: '/etc/d' }, { path: '/etc/e', mode: 0o700, group: { name: 'staff' } }],
    links: [{ path: '/etc/l', target: '/etc/a', hard: true }],
  },
  systemd: {
    units: [
      { name: 'u.service', enabled: true, contents: '[Service]\n' },
      { name: 'm.service', enabled: true, mask: true },
      { name: 'n.service', mask: false },
      { name: 'o.service', enabled: false },
    ],
  },
  passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['ssh-ed25519 AAAA me'], passwordHash: '$6$x' }] },
};

const named = (spec: object) => ({ name: 'rendered-worker-1', spec });
const read = (from: RenderedIgnition, settings: object = {}) =>
  loadDesiredMachine(named({ config: from, ...settings }));
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** The form of a plan. Contents are null if they do not match the bytes. */
async function planned(entry: DesiredEntry) {
  if (!('leaves' in entry)) return entry;
  const { leaves: _leaves, ...rest } = entry;
  if (rest.kind === 'directory') return rest;
  const { contents, bytes: readBytes, ...file } = rest;
  const bytes = await readBytes();
  const isSame = contents.size === bytes.length && contents.sha256 === sha256(bytes);
  return { ...file, bytes: isSame ? bytes : null };
}

describe('the machine that a config describes', () => {
  it('is the same read file by file as in the plan', async () => {
    const { entries } = await read(config);
    expect(await Promise.all([...entries.values()].map(planned))).toEqual((await buildDiskPlan(config)).entries);
    expect([...entries.keys()]).toEqual([...entries.keys()].toSorted());
    expect([...(await read({ ignition })).entries]).toEqual([]);
  });

  it('is rejected if contents cannot be read, with the name of the file', async () => {
    const bad = { path: '/etc/c', append: [{ source: 'data:;base64,YQ==', compression: 'gzip' }] };
    await expect(read({ ignition, storage: { files: [bad] } })).rejects.toMatchObject({
      code: 'SLW_DISK_CONTENTS',
      message: expect.stringContaining('/etc/c'),
    });
  });

  it('is rejected if the config cannot be parsed, with the reason', async () => {
    await expect(loadDesiredMachine(named({ config: { ignition: { version: '9' } } }))).rejects.toMatchObject({
      code: 'SLW_DAEMON_CONFIG',
      message: expect.stringContaining('MachineConfig rendered-worker-1'),
    });
  });

  it.each([
    ['/etc/b', []],
    ['/etc/a', ['mode', 'user', 'group']],
    ['/etc/n', ['group']],
    ['/etc/d', ['mode', 'user', 'group']],
    ['/etc/e', ['user']],
    ['/etc/systemd/system/u.service', []],
  ])('keeps existing attributes that the config does not name: %s', async (path, expected) => {
    const entry = (await read(config)).entries.get(path);
    expect(entry !== undefined && 'leaves' in entry && [...entry.leaves]).toEqual(expected);
  });

  it('has every unit that the config names', async () => {
    expect((await read(config)).units).toEqual([
      { name: 'u.service', enabled: true, unmasked: false },
      { name: 'm.service', enabled: null, unmasked: false },
      { name: 'n.service', enabled: null, unmasked: true },
      { name: 'o.service', enabled: false, unmasked: false },
    ]);
  });

  it('has the keys and password of the user core, or neither', async () => {
    const { core } = await read(config);
    expect(core).toMatchObject({ passwordHash: '$6$x', sshKeys: { contents: { size: 20 } } });
    expect((await read({ ignition })).core).toEqual({ sshKeys: null, passwordHash: null });
  });

  it('has the kernel arguments of both sections', async () => {
    const arguments_ = { shouldExist: ['a=1 b'], shouldNotExist: ['c'] };
    const { os } = await read(
      { ignition, kernelArguments: arguments_ },
      { kernelArguments: ['quiet'], osImageURL: 'quay.example/os', fips: true, extensions: ['usbguard'] },
    );
    expect(os).toEqual({
      image: 'quay.example/os',
      kernelArguments: ['a=1', 'b', 'quiet'],
      noKernelArguments: ['c'],
      kernelType: 'default',
      extensions: ['usbguard'],
      fips: true,
    });
  });

  it('is cached while its config is in memory', async () => {
    const stored = named({ config });
    expect(await loadDesiredMachine(stored)).toBe(await loadDesiredMachine(stored));
    expect(await loadDesiredMachine(stored)).not.toBe(await loadDesiredMachine({ ...stored }));
  });
});
