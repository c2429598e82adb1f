// A file that takes the place of another gets its SELinux label, from the moment it is made. Everything else gets what the
// policy has for new files in that directory, which is right for what a config brings: units, drop-ins, settings.
//
// Never run on a host with SELinux: there was none to try it on.
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';

/** Of this thread: only what it makes itself, by synchronous calls, gets the label. */
const LABEL_OF_NEW_FILES = '/proc/thread-self/attr/fscreate';

export function hasSelinux(): boolean {
  return existsSync('/sys/fs/selinux/enforce');
}

/** Node cannot read extended attributes. `place` is that of this process; undefined: nothing is there. */
export function readLabel(place: string): string | undefined {
  const ours = place.replace('/proc/self/', `/proc/${process.pid}/`);
  try {
    const label = execFileSync('stat', ['--printf=%C', '--', ours], { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
    return label === '?' || label === '' ? undefined : label;
  } catch {
    return undefined;
  }
}

export function makeWithLabel<T>(label: string | undefined, make: () => T): T {
  if (label === undefined) return make();
  writeFileSync(LABEL_OF_NEW_FILES, label);
  try {
    return make();
  } finally {
    // An empty write: back to what the policy says.
    writeFileSync(LABEL_OF_NEW_FILES, '\n');
  }
}
