import type { Owners } from './file-system.ts';

/** Who runs this process: root on a machine. Who is not root can give files to nobody else, so all of a simulation is theirs. */
export function ownOwners(): Owners {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}
