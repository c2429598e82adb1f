// Users and groups from the machine's files. Hosts based on ostree have those of the image below /usr/lib.
import type { Owner } from '@slipway/fleet';
import { DaemonError } from '../errors.ts';
import { type FileSystem, type Owners, readText } from './file-system.ts';
import type { Accounts } from './host.ts';
import { type Run, summarize } from './run-command.ts';

export const SHADOW = '/etc/shadow';
const PASSWD = ['/etc/passwd', '/usr/lib/passwd'];
const GROUP = ['/etc/group', '/usr/lib/group'];
const MAX_ACCOUNT_FILE_BYTES = 4 * 1024 * 1024;

/** The read-only part of Accounts. */
export function readAccounts(files: FileSystem): Omit<Accounts, 'setPasswordHash'> {
  return {
    async owners(user, group) {
      return { uid: await resolveId(files, PASSWD, 'user', user), gid: await resolveId(files, GROUP, 'group', group) };
    },

    async home(user) {
      const fields = await readEntry(files, PASSWD, user);
      if (fields === undefined) return undefined;
      return { ...readOwners(user, fields), path: fields[5] ?? '' };
    },

    async passwordHash(user) {
      const text = (await readText(files, SHADOW, MAX_ACCOUNT_FILE_BYTES)) ?? '';
      return findEntry(text, user)?.[1];
    },
  };
}

/** The text of /etc/shadow with a new hash for the user. Undefined: there is no such user. */
export function withPasswordHash(shadow: string, user: string, hash: string): string | undefined {
  const lines = shadow.split('\n');
  const at = lines.findIndex((line) => line.startsWith(`${user}:`));
  const fields = lines[at]?.split(':');
  if (fields === undefined) return undefined;
  fields[1] = hash;
  return lines.with(at, fields.join(':')).join('\n');
}

export function noSuchUser(user: string): DaemonError {
  return new DaemonError(
    'SLW_DAEMON_ACCOUNT',
    `This machine has no user ${user} in ${PASSWD.join(' or ')}, so it cannot own files or have a password. ` +
      'Expected one that the OS image or the first boot created.',
  );
}

async function resolveId(files: FileSystem, sources: readonly string[], kind: string, owner: Owner): Promise<number> {
  if ('id' in owner) return owner.id;
  const number = Number((await readEntry(files, sources, owner.name))?.[2] ?? Number.NaN);
  if (Number.isInteger(number)) return number;
  if (owner.name === 'root') return 0;
  throw new DaemonError(
    'SLW_DAEMON_ACCOUNT',
    `This machine has no ${kind} ${owner.name} in ${sources.join(' or ')}. ` +
      `Use one that the OS has, or its numeric ID.`,
  );
}

async function readEntry(files: FileSystem, sources: readonly string[], name: string): Promise<string[] | undefined> {
  for (const source of sources) {
    const fields = findEntry((await readText(files, source, MAX_ACCOUNT_FILE_BYTES)) ?? '', name);
    if (fields !== undefined) return fields;
  }
  return undefined;
}

function findEntry(text: string, name: string): string[] | undefined {
  return text
    .split('\n')
    .map((line) => line.split(':'))
    .find((fields) => fields[0] === name && fields.length > 1);
}

function readOwners(user: string, fields: readonly string[]): Owners {
  const [uid, gid] = [Number(fields[2]), Number(fields[3])];
  if (Number.isInteger(uid) && Number.isInteger(gid)) return { uid, gid };
  throw new DaemonError(
    'SLW_DAEMON_ACCOUNT',
    `The entry of user ${user} in /etc/passwd has no numeric user and group ID. Fix the line.`,
  );
}

// The accounts of a real host.

const SHORT_MS = 60_000;

export function createRealAccounts(files: FileSystem, run: Run): Accounts {
  const accounts = readAccounts(files);
  return {
    ...accounts,
    async setPasswordHash(user, hash) {
      const before = await accounts.passwordHash(user);
      if (before === undefined) throw noSuchUser(user);
      if (before === hash) return;
      if (/[:\s]/.test(hash))
        throw new DaemonError('SLW_DAEMON_ACCOUNT', `The password hash of ${user} contains a colon or a space.`);
      // Not as an argument: all users can see the arguments of every process.
      const set = await run({ program: 'chpasswd', args: ['-e'], input: `${user}:${hash}\n`, timeoutMs: SHORT_MS });
      if (set.status !== 0) {
        const said = set.status === null ? 'this machine has no chpasswd' : summarize(set.stderr.replaceAll(hash, '…'));
        throw new DaemonError('SLW_DAEMON_ACCOUNT', `The password of ${user} could not be set: ${said}.`);
      }
      await files.syncFile(SHADOW);
      await files.syncDirectory('/etc');
    },
  };
}
