// SSH keys and password of the user core.
import { posix } from 'node:path';
import type { PasswordChange, SshKeys, SshKeysChange } from '@slipway/fleet';
import { DaemonError } from '../errors.ts';
import type { Accounts } from '../host/host.ts';
import type { SurveyContext } from './survey.ts';

/** Keys from configs have a separate file, so that other keys are not touched. */
const KEYS = '.ssh/authorized_keys.d/ignition';
/** No password. An empty one would let anyone log in. */
export const NO_PASSWORD = '*';

export async function surveySshKeys(context: SurveyContext, { user, after }: SshKeysChange): Promise<void> {
  const home = await context.accounts.home(user);
  if (home !== undefined) return surveyKeysIn(context, home, after === null ? null : context.desired.core.sshKeys);
  if (after === null) return undefined;
  throw refusal(
    `expected the user ${user} on the machine, found none: reinstall the machine, or remove the keys from the config`,
  );
}

async function surveyKeysIn(context: SurveyContext, home: Home, keys: SshKeys | null): Promise<void> {
  await mustBeDirectories(context, home.path);
  const path = posix.join(home.path, KEYS);
  const found = await context.files.lookAt(path);
  if (found?.kind === 'directory' || found?.kind === 'other') throw refusal(`expected ${path} to be a file: remove it`);
  if (keys === null) {
    if (found !== null) context.drop(path, 'entry');
    return;
  }
  const { uid, gid } = home;
  const place = await context.parents.placeFor(posix.dirname(path), { mode: 0o700, uid, gid });
  const { mode, bytes } = keys;
  context.put(
    path,
    found === null ? 'nothing' : 'entry',
    { kind: 'file', mode, uid, gid, bytes: async () => bytes },
    place,
  );
}

type Home = NonNullable<Awaited<ReturnType<Accounts['home']>>>;

/** The user owns these directories, so a symbolic link there could redirect writes of root. */
async function mustBeDirectories({ files }: SurveyContext, home: string): Promise<void> {
  if ((await files.lookAt(home)) === null) throw refusal(`expected the home directory ${home}, found none: create it`);
  for (const path of [posix.join(home, '.ssh'), posix.join(home, posix.dirname(KEYS))]) {
    const found = await files.lookAt(path);
    if (found === null) return;
    if (found.kind !== 'directory') {
      throw refusal(
        `expected ${path} to be a directory, found a ${found.kind}: replace it with a directory that the user owns`,
      );
    }
  }
}

export async function surveyPassword(context: SurveyContext, { user, after }: PasswordChange): Promise<void> {
  const hash = await context.accounts.passwordHash(user);
  if (hash === undefined && after === 'set') {
    throw refusal(
      `expected the user ${user} on the machine, found none: reinstall the machine, or remove the password from the config`,
    );
  }
  context.notes.oldPasswordHash = hash ?? null;
}

function refusal(why: string): DaemonError {
  return new DaemonError('SLW_DAEMON_PREFLIGHT', why);
}
