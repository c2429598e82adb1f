import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDisk } from './disk.ts';
import type { FileSystem } from './file-system.ts';

const me = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
const toBytes = (text: string) => Buffer.from(text);
const newFile = (text: string, mode = 0o644) => ({ bytes: toBytes(text), mode, ...me });

let outside: string;
let root: string;
let disk: FileSystem;

beforeEach(() => {
  outside = mkdtempSync(join(tmpdir(), 'slipway-disk-'));
  root = join(outside, 'root');
  for (const directory of ['etc/app', 'usr', 'var/home/core', 'var/usrlocal'])
    mkdirSync(join(root, directory), { recursive: true });
  symlinkSync('var/home', join(root, 'home'));
  symlinkSync('../var/usrlocal', join(root, 'usr/local'));
  writeFileSync(join(outside, 'secret'), 'of another machine');
  disk = createDisk({ root });
});

afterEach(() => rmSync(outside, { recursive: true }));

describe('the space of a disk', () => {
  it('is that of the file system of a directory, or of its nearest parent', async () => {
    const { bavail, blocks, bsize } = statfsSync(root);
    const { freeBytes, sizeBytes } = await disk.space('/var/home');
    expect(sizeBytes).toBe(blocks * bsize);
    expect(Math.abs(freeBytes - bavail * bsize)).toBeLessThan(sizeBytes / 10);
    expect((await disk.space('/var/lib/containers/storage')).sizeBytes).toBe(sizeBytes);
  });

  it('follows links as on the machine', async () => {
    symlinkSync('/proc', join(root, 'var/elsewhere'));
    // Not the file system of this computer, which has no blocks there.
    expect((await disk.space('/var/elsewhere')).sizeBytes).toBe((await disk.space('/')).sizeBytes);
    await expect(disk.space('/var/../../x')).rejects.toMatchObject({ code: 'SLW_DAEMON_PATH' });
  });
});

describe('resolving a path', () => {
  it('follows links among the parents as on the machine', async () => {
    symlinkSync('/var/home', join(root, 'etc/homes'));
    await disk.createFile('/home/core/relative', newFile('1'));
    await disk.createFile('/usr/local/up', newFile('2'));
    await disk.createFile('/etc/homes/core/absolute', newFile('3'));
    expect(readdirSync(join(root, 'var/home/core'))).toEqual(['absolute', 'relative']);
    expect(readFileSync(join(root, 'var/usrlocal/up'), 'utf8')).toBe('2');
  });

  it('lists and syncs a directory behind a link', async () => {
    await disk.createFile('/usr/local/a', newFile(''));
    await disk.syncDirectory('/usr/local');
    expect(await disk.list('/usr/local')).toEqual(['a']);
    expect(await disk.list('/')).toEqual(['etc', 'home', 'usr', 'var']);
  });

  const escapes = [
    { link: '/etc/app/link', target: '../../..', why: 'climbs out from where it is' },
    { link: '/link', target: '..', why: 'climbs out at the root' },
    { link: '/etc/link', target: '/../secret', why: 'is absolute and climbs out' },
    { link: '/etc/link', target: '../home/../../../secret', why: 'climbs out behind another link' },
  ];
  for (const { link, target, why } of escapes)
    it(`fails if a link ${why}, and names path and link`, async () => {
      symlinkSync(target, join(root, link));
      for (const act of [disk.lookAt(`${link}/x`), disk.createFile(`${link}/x`, newFile(''))])
        await expect(act).rejects.toMatchObject({
          code: 'SLW_DAEMON_PATH',
          message: expect.stringMatching(/^the path ".*link\/x" leads out of the machine’s root via the link \/.* → /),
        });
    });

  it('stays below the root if an absolute link names a path that also exists outside', async () => {
    symlinkSync(outside, join(root, 'etc/link'));
    expect(await disk.lookAt('/etc/link/secret')).toBeNull();
    await expect(disk.createFile('/etc/link/x', newFile(''))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('fails if the path itself leaves the root, ends in “..”, is relative or contains a null byte', async () => {
    for (const path of ['/../secret', '/etc/../../secret', '/etc/..', 'etc/hosts', '/etc/a\0b'])
      await expect(disk.lookAt(path)).rejects.toMatchObject({ code: 'SLW_DAEMON_PATH' });
    expect(await disk.lookAt('/etc/../usr//./local')).toMatchObject({ kind: 'link' });
  });

  it('fails if a parent is a file, and names it', async () => {
    await disk.createFile('/etc/hosts', newFile(''));
    for (const act of [
      disk.lookAt('/etc/hosts/x'),
      disk.list('/etc/hosts'),
      disk.makeDirectory('/etc/hosts/x', { mode: 0o755, ...me }),
    ])
      await expect(act).rejects.toMatchObject({
        code: 'SLW_DAEMON_PATH',
        message: expect.stringContaining('goes through /etc/hosts, which is not a directory'),
      });
  });

  it('fails in a loop of links', async () => {
    symlinkSync('b', join(root, 'a'));
    symlinkSync('a', join(root, 'b'));
    await expect(disk.lookAt('/a/x')).rejects.toThrow('follows more than 40 links');
  });

  it('follows a chain of 40 links', async () => {
    symlinkSync('etc', join(root, 'l1'));
    for (let n = 2; n <= 40; n += 1) symlinkSync(`l${n - 1}`, join(root, `l${n}`));
    expect(await disk.lookAt('/l40/app')).toMatchObject({ kind: 'directory' });
  });

  it('does not follow a directory that was swapped for a link', async () => {
    await disk.createFile('/etc/app/a', newFile('1'));
    renameSync(join(root, 'etc/app'), join(root, 'etc/moved'));
    symlinkSync(outside, join(root, 'etc/app'));
    await expect(disk.createFile('/etc/app/b', newFile('2'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(readdirSync(outside)).toEqual(['root', 'secret']);
  });

  it('leaves no handle open, whatever happens', async () => {
    symlinkSync('..', join(root, 'out'));
    await disk.createFile('/etc/app/a', newFile('1'));
    const handles = () => readdirSync('/proc/self/fd').length;
    await setImmediate();
    const before = handles();
    for (let n = 0; n < 50; n += 1) {
      await Promise.allSettled([
        disk.lookAt('/out/x'),
        disk.lookAt('/etc/app/a/b'),
        disk.createFile('/etc/app/a', newFile('')),
        disk.read('/etc/app/a', 0),
        disk.syncFile('/etc/app/a'),
        disk.syncDirectory('/usr/local'),
        disk.setMode('/etc/app/a', 0o600),
      ]);
    }
    await setImmediate();
    expect(handles()).toBe(before);
  });
});

describe('a file', () => {
  it('is created with mode, owner and contents, including the bits above the permissions', async () => {
    await disk.createFile('/etc/tool', { bytes: toBytes('#!'), mode: 0o6755, uid: me.uid, gid: me.gid });
    expect(await disk.lookAt('/etc/tool')).toMatchObject({ kind: 'file', mode: 0o6755, size: 2, ...me });
  });

  it.runIf(me.uid === 0)('has the requested owner', async () => {
    await disk.createFile('/etc/key', { bytes: toBytes('k'), mode: 0o4640, uid: 1001, gid: 1002 });
    expect(await disk.lookAt('/etc/key')).toMatchObject({ mode: 0o4640, uid: 1001, gid: 1002 });
  });

  it('is not created over an existing entry, not even over a dangling link', async () => {
    symlinkSync('nothing', join(root, 'etc/link'));
    await disk.createFile('/etc/a', newFile('old'));
    for (const path of ['/etc/a', '/etc/link'])
      await expect(disk.createFile(path, newFile('new'))).rejects.toMatchObject({ code: 'EEXIST' });
    expect(readFileSync(join(root, 'etc/a'), 'utf8')).toBe('old');
    expect(existsSync(join(root, 'etc/nothing'))).toBe(false);
  });

  it('is read up to the limit and rejected beyond it', async () => {
    const contents = Buffer.alloc(50_000, 'abc');
    await disk.createFile('/etc/a', { ...newFile(''), bytes: contents });
    expect(contents.equals(await disk.read('/etc/a', 50_000))).toBe(true);
    await expect(disk.read('/etc/a', 49_999)).rejects.toMatchObject({
      code: 'SLW_DAEMON_FILE_SIZE',
      message: expect.stringContaining('/etc/a is larger than the daemon’s limit of 49999 bytes'),
    });
  });

  it('in /proc, which reports a size of zero, is read to its end', async () => {
    const machine = createDisk({ root: '/' });
    expect(Buffer.from(await machine.read('/proc/sys/kernel/random/boot_id', 100)).toString()).toMatch(
      /^[-0-9a-f]{36}\n$/,
    );
    expect((await machine.read('/proc/self/smaps', 10_000_000)).length).toBeGreaterThan(20_000);
  });

  it('that is a link, a directory or a pipe is not read, and a pipe does not block', async () => {
    execFileSync('mkfifo', [join(root, 'etc/pipe')]);
    symlinkSync('../../secret', join(root, 'etc/link'));
    await expect(disk.read('/etc/link', 100)).rejects.toMatchObject({ code: 'ELOOP' });
    for (const path of ['/etc/app', '/etc/pipe'])
      await expect(disk.read(path, 100)).rejects.toMatchObject({ code: 'SLW_DAEMON_PATH' });
    expect(await disk.lookAt('/etc/pipe')).toEqual({ kind: 'other' });
  });

  it('is written in place, and never beyond its size', async () => {
    await disk.createFile('/etc/log', newFile('0000000000'));
    await disk.overwrite('/etc/log', 4, toBytes('abc'));
    await expect(disk.overwrite('/etc/log', 8, toBytes('abc'))).rejects.toThrow('not within it');
    expect(readFileSync(join(root, 'etc/log'), 'utf8')).toBe('0000abc000');
  });

  it('replaces another by rename, and keeps two names of the same file', async () => {
    await disk.createFile('/etc/a', newFile('new'));
    await disk.createFile('/etc/b', newFile('old'));
    await disk.makeHardLink('/etc/kept', '/etc/b');
    await disk.rename('/etc/a', '/etc/b');
    expect(readFileSync(join(root, 'etc/b'), 'utf8')).toBe('new');
    expect(readFileSync(join(root, 'etc/kept'), 'utf8')).toBe('old');
    linkSync(join(root, 'etc/kept'), join(root, 'etc/c'));
    await disk.rename('/etc/kept', '/etc/c');
    expect(await disk.list('/etc')).toEqual(['app', 'b', 'c', 'kept']);
  });

  it('changes mode and owner in place, not at the target of a link', async () => {
    await disk.createFile('/etc/a', newFile('', 0o644));
    symlinkSync('a', join(root, 'etc/link'));
    await disk.setMode('/etc/a', 0o1600);
    await disk.setOwners('/etc/link', me);
    expect(lstatSync(join(root, 'etc/a')).mode & 0o7777).toBe(0o1600);
    await expect(disk.setMode('/etc/link', 0o777)).rejects.toThrow('/etc/link');
    expect(lstatSync(join(root, 'etc/a')).mode & 0o7777).toBe(0o1600);
  });

  it('that cannot be created or written: the error has the path of the machine, not that of a handle', async () => {
    const small = createDisk({ root: '/dev' });
    await expect(small.overwrite('/full', 0, toBytes('x'))).rejects.toThrow('/full');
    await expect(disk.createFile('/etc/none/a', newFile(''))).rejects.toMatchObject({
      code: 'ENOENT',
      message: 'ENOENT: no such file or directory, create /etc/none/a',
    });
  });
});

describe('directories and links', () => {
  it('are created with mode and owner, and removed when empty', async () => {
    await disk.makeDirectory('/etc/d', { mode: 0o1777, ...me });
    expect(await disk.lookAt('/etc/d')).toEqual({ kind: 'directory', mode: 0o1777, ...me });
    await disk.createFile('/etc/d/a', newFile(''));
    await expect(disk.removeDirectory('/etc/d')).rejects.toMatchObject({ code: 'ENOTEMPTY' });
    await disk.remove('/etc/d/a');
    await disk.removeDirectory('/etc/d');
    expect(await disk.lookAt('/etc/d')).toBeNull();
  });

  it('are not followed at the last name', async () => {
    await disk.makeLink('/etc/mask', { target: '/dev/null', ...me });
    expect(await disk.lookAt('/etc/mask')).toEqual({ kind: 'link', target: '/dev/null', ...me });
    expect(readlinkSync(join(root, 'etc/mask'))).toBe('/dev/null');
    await disk.remove('/etc/mask');
    expect(await disk.list('/etc')).toEqual(['app']);
  });

  it('that do not exist are reported as absent', async () => {
    expect(await disk.lookAt('/no/such/thing')).toBeNull();
    expect(await disk.list('/no/such/thing')).toEqual([]);
    await expect(disk.remove('/no')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
