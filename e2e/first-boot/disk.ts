import { lstat, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** One thing on a machine's disk, as it is. */
export interface DiskEntry {
  kind: 'file' | 'directory' | 'link';
  mode: number;
  uid: number;
  gid: number;
  /** Of a file. */
  bytes: Buffer;
  /** Of a symbolic link. */
  target: string;
  /** The same for all names of one file. */
  inode: number;
}

export interface Account {
  uid: number;
  gid: number;
  comment: string;
  home: string;
  shell: string;
  passwordHash: string;
  /** The names of the groups it was added to, beside its own. */
  groups: string[];
}

export interface Disk {
  /** By absolute path, as the machine would see it. */
  entries: Map<string, DiskEntry>;
  accounts: Map<string, Account>;
  /** Group ids by name. */
  groups: Map<string, number>;
}

export async function readDisk(root: string): Promise<Disk> {
  const entries = new Map<string, DiskEntry>();
  for (const path of await readdir(root, { recursive: true })) {
    entries.set(`/${path}`, await readEntry(join(root, path)));
  }
  return { entries, ...(await readAccounts(root)) };
}

async function readEntry(path: string): Promise<DiskEntry> {
  const found = await lstat(path);
  const kind = found.isSymbolicLink() ? 'link' : found.isDirectory() ? 'directory' : 'file';
  return {
    kind,
    mode: found.mode & 0o7777,
    uid: found.uid,
    gid: found.gid,
    inode: found.ino,
    bytes: kind === 'file' ? await readFile(path) : Buffer.alloc(0),
    target: kind === 'link' ? await readlink(path) : '',
  };
}

async function readAccounts(root: string): Promise<Pick<Disk, 'accounts' | 'groups'>> {
  const table = async (name: string) =>
    (await readFile(join(root, 'etc', name), 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split(':'));
  const groups = await table('group');
  const hashes = new Map((await table('shadow')).map(([name, hash = '']) => [name, hash]));
  const accounts = (await table('passwd')).map(([name = '', , uid, gid, comment = '', home = '', shell = '']) => {
    const joined = groups.filter(([, , , members = '']) => members.split(',').includes(name));
    const account: Account = {
      uid: Number(uid),
      gid: Number(gid),
      comment,
      home,
      shell,
      passwordHash: hashes.get(name) ?? '',
      groups: joined.map(([group = '']) => group).toSorted(),
    };
    return [name, account] as const;
  });
  return { accounts: new Map(accounts), groups: new Map(groups.map(([name = '', , gid]) => [name, Number(gid)])) };
}
