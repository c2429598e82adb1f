// Which symbolic links root follows among the parents of a path. A user who can change where a name leads could
// otherwise have root write, remove or read anything: `ln -s /etc/cron.d ~/app` is enough.
//
// The owner of the link alone does not decide. A user can move a link of root within a directory of the user, and
// Node cannot read the target of a link through a handle, so that the owner and the target may be those of two links
// that were exchanged in between. Therefore everyone counts who can change the name: the owners of all directories on
// the way, and the owner of the link.

export interface DirectoryRights {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

/** The users who can change where a link leads, apart from root. `anyone`: not limited to a few users. */
export type LinkControl = readonly number[] | 'anyone';

const STICKY = 0o1000;
const GROUP_WRITES = 0o020;
const OTHERS_WRITE = 0o002;

/** Root, and the user of this process: in a simulation, that user owns the whole machine. */
export function isTrustedUser(uid: number): boolean {
  return uid === 0 || uid === process.geteuid?.();
}

/** `directories`: from the root of the machine to the directory of the link. */
export function findLinkControl(directories: readonly DirectoryRights[], linkOwner: number): LinkControl {
  if (directories.some(isShared)) return 'anyone';
  const users = [...directories.map(({ uid }) => uid), linkOwner].filter((uid) => !isTrustedUser(uid));
  return [...new Set(users)];
}

/**
 * Several users can rename entries of others in it. A group that a user admits to an own directory is the choice of
 * that user: distributions give every user a private group that may write.
 */
function isShared({ uid, gid, mode }: DirectoryRights): boolean {
  if ((mode & STICKY) !== 0) return false;
  if ((mode & OTHERS_WRITE) !== 0) return true;
  return (mode & GROUP_WRITES) !== 0 && isTrustedUser(uid) && gid !== 0 && gid !== process.getegid?.();
}

/** `targetOwner`: of the directory that the link leads to. Undefined: it does not exist. */
export function mayFollowLink(control: LinkControl, targetOwner: number | undefined): boolean {
  return control !== 'anyone' && control.every((uid) => uid === targetOwner);
}

export function describeLinkControl(control: LinkControl): string {
  if (control === 'anyone') return 'any user can change';
  return control.length === 1 ? `user ${control[0]} can change` : `the users ${control.join(' and ')} can change`;
}
