import { chmodSync, lchownSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createDisk } from './disk.ts';
import type { FileSystem } from './file-system.ts';
import { type HostileUser, isRoot, JOB, makeHostileUser, USER, VICTIM } from './testing/hostile-user.ts';

const root = { uid: 0, gid: 0 };
const user = { uid: USER, gid: USER };
const newFile = { bytes: Buffer.from('new'), mode: 0o644, ...root };

let machine: string;
let disk: FileSystem;
let hostile: HostileUser;
const at = (path: string) => join(machine, path);

describe.runIf(isRoot)('a link that a user controls', () => {
  beforeEach(() => {
    machine = mkdtempSync(join(tmpdir(), 'slipway-links-'));
    onTestFinished(() => rmSync(machine, { recursive: true }));
    for (const directory of ['var/home/core', 'var/usrlocal/etc', 'usr', 'srv'])
      mkdirSync(at(directory), { recursive: true });
    symlinkSync('var/home', at('/home'));
    symlinkSync('../var/usrlocal', at('/usr/local'));
    hostile = makeHostileUser(machine);
    disk = createDisk({ root: machine });
  });

  const calls: readonly [string, () => Promise<unknown>][] = [
    ['lookAt', () => disk.lookAt(JOB)],
    ['lookAt of the directory', () => disk.lookAt('/home/core/app/')],
    ['read', () => disk.read(JOB, 100)],
    ['list', () => disk.list('/home/core/app')],
    ['space', () => disk.space('/home/core/app')],
    ['createFile', () => disk.createFile('/home/core/app/new', newFile)],
    ['overwrite', () => disk.overwrite(JOB, 0, Buffer.from('x'))],
    ['syncFile', () => disk.syncFile(JOB)],
    ['syncDirectory', () => disk.syncDirectory('/home/core/app')],
    ['makeDirectory', () => disk.makeDirectory('/home/core/app/new', { mode: 0o755, ...root })],
    ['makeLink', () => disk.makeLink('/home/core/app/new', { target: '/', ...root })],
    ['makeHardLink to it', () => disk.makeHardLink('/home/core/app/new', '/etc/own')],
    ['makeHardLink from it', () => disk.makeHardLink('/etc/new', JOB)],
    ['rename to it', () => disk.rename('/etc/own', JOB)],
    ['rename from it', () => disk.rename(JOB, '/etc/new')],
    ['remove', () => disk.remove(JOB)],
    ['removeDirectory', () => disk.removeDirectory('/home/core/app/empty')],
    ['setMode', () => disk.setMode(JOB, 0o777)],
    ['setOwners', () => disk.setOwners(JOB, user)],
  ];
  it.each(calls)('is not followed by %s, and the error names path, link and user', async (_, call) => {
    mkdirSync(at(`${VICTIM}/empty`));
    writeFileSync(at('/etc/own'), '');
    const before = hostile.readVictim();
    for (const target of [
      VICTIM,
      '../../../etc/slipway-victim.d',
      '/home/core/../../../etc/./slipway-victim.d',
      'aside/../../../../etc/slipway-victim.d',
    ]) {
      hostile.swap(target);
      await expect(call()).rejects.toMatchObject({
        code: 'SLW_DAEMON_LINK',
        message: expect.stringMatching(
          /the path "\/home\/core\/app.*" goes through the link \/var\/home\/core\/app → .*, which user 1000 can change, and its target belongs to user 0/,
        ),
      });
      hostile.restore();
    }
    expect(hostile.readVictim()).toEqual(before);
    await expect(disk.lookAt('/etc/own')).resolves.not.toBeNull();
  });

  it('is followed to a directory of that user', async () => {
    mkdirSync(at('/srv/data'), { recursive: true });
    lchownSync(at('/srv/data'), USER, USER);
    for (const target of ['aside', '/home/core/aside', '/srv/data']) {
      hostile.swap(target);
      await disk.createFile(JOB, newFile);
      expect(await disk.list('/home/core/app')).toEqual(['job']);
      await disk.remove(JOB);
      hostile.restore();
    }
  });

  it('is not followed to a missing directory, which a caller would create', async () => {
    hostile.swap('/etc/missing');
    await expect(disk.lookAt(JOB)).rejects.toMatchObject({
      code: 'SLW_DAEMON_LINK',
      message: expect.stringContaining('and its target does not exist'),
    });
  });

  it('is not followed behind a second link, of root or of the user', async () => {
    symlinkSync('/etc', at('/opt'));
    symlinkSync(VICTIM, at('/var/home/core/second'));
    lchownSync(at('/var/home/core/second'), USER, USER);
    for (const target of ['/opt/slipway-victim.d', 'second']) {
      hostile.swap(target);
      await expect(disk.lookAt(JOB)).rejects.toMatchObject({ code: 'SLW_DAEMON_LINK' });
      hostile.restore();
    }
  });

  it('is not followed if root made it and the user moved it', async () => {
    await disk.makeLink('/home/core/moved', { target: VICTIM, ...root });
    hostile.swap();
    rmSync(at('/var/home/core/app'));
    renameSync(at('/var/home/core/moved'), at('/var/home/core/app'));
    await expect(disk.remove(JOB)).rejects.toMatchObject({ code: 'SLW_DAEMON_LINK' });
  });

  it('does not affect links of the OS, also on the way to the home of a user', async () => {
    symlinkSync('/var/usrlocal', at('/opt'));
    for (const path of [JOB, '/usr/local/etc/a', '/opt/etc/b']) await disk.createFile(path, newFile);
    expect(await disk.list('/home/core/app')).toEqual(['job']);
    expect(await disk.list('/usr/local/etc')).toEqual(['a', 'b']);
    expect(await disk.lookAt('/usr/local/')).toMatchObject({ kind: 'directory' });
    expect(await disk.lookAt('/usr/local')).toMatchObject({ kind: 'link' });
  });

  it('has no effect between two calls: the second one finds it', async () => {
    await disk.createFile('/home/core/app/.next', newFile);
    hostile.swap();
    await expect(disk.rename('/home/core/app/.next', JOB)).rejects.toMatchObject({ code: 'SLW_DAEMON_LINK' });
  });

  it('has a target of any length and any bytes, and the message stays printable', async () => {
    hostile.swap(`${'./'.repeat(1000)}\u001B[31m/../../../../etc`);
    const error = await disk.lookAt(JOB).then(() => '', String);
    expect(error).toContain('goes through the link');
    expect(error).not.toContain('\u001B');
    expect(error.length).toBeLessThan(700);
  });

  it('in a directory that all users can change is not followed, whoever made it', async () => {
    chmodSync(at('/srv'), 0o777);
    symlinkSync(VICTIM, at('/srv/link'));
    await expect(disk.lookAt('/srv/link/job')).rejects.toThrow('which any user can change');
  });
});
