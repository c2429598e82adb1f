import { diskOf, type RenderedIgnition } from '@slipway/fleet';
import { describe, expect, it } from 'vitest';
import { readDisk } from './disk-reading.ts';

const ignition = { version: '3.5.0' as const };
const config: RenderedIgnition = {
  ignition,
  storage: {
    files: [
      { path: '/etc/b', mode: 0o600, contents: { source: 'data:,b' }, append: [{ source: 'data:;base64,Yg==' }] },
      { path: '/etc/a', append: [{ source: 'data:,a' }] },
    ],
    directories: [{ path: '/etc/d' }],
    links: [{ path: '/etc/l', target: '/etc/a', hard: true }],
  },
  systemd: { units: [{ name: 'u.service', enabled: true, contents: '[Service]\n' }] },
  passwd: { users: [{ name: 'core', sshAuthorizedKeys: ['ssh-ed25519 AAAA me'] }] },
};

async function read(from: RenderedIgnition) {
  const disk = await readDisk(from);
  return { ...disk, entries: (await Array.fromAsync(disk.entries())).toSorted((a, b) => (a.path < b.path ? -1 : 1)) };
}

describe('a config that is read file by file', () => {
  it('makes the same disk as one that is read at once', async () => {
    expect(await read(config)).toEqual(await diskOf(config));
    expect(await read({ ignition })).toEqual(await diskOf({ ignition }));
  });

  it('is refused for contents that cannot be read, by the name of the file', async () => {
    const bad = { path: '/etc/c', contents: { source: 'data:;base64,?' } };
    await expect(read({ ignition, storage: { files: [bad] } })).rejects.toMatchObject({
      code: 'SLW_DISK_CONTENTS',
      message: expect.stringContaining('/etc/c'),
    });
  });
});
