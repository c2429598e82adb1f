// A user of the machine who replaces a directory of the home by a link to a directory of root. Needs root, to make
// entries that belong to that user.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

export const USER = 1000;
export const isRoot = process.getuid?.() === 0;

/** The path that the config has. */
export const JOB = '/home/core/app/job';
/**
 * The directory of root that the link leads to. Not a name that the computer of the test has, too: code that lets the
 * kernel follow the link ends up there, not on the simulated machine.
 */
export const VICTIM = '/etc/slipway-victim.d';

export interface HostileUser {
  /** The directory becomes the link. */
  swap(target?: string): void;
  /** The directory is back. */
  restore(): void;
  /** Every name below the victim, with contents and the time of the last change of any kind. */
  readVictim(): unknown;
  /** A process of the user that swaps and restores without a pause, and replaces the file in the directory. */
  startSwapping(): Swapping;
}

export interface Swapping {
  /** How often the directory was replaced by the link so far. */
  swaps(): number;
  /** The user ends with an empty directory. */
  stop(): Promise<void>;
}

/** `root`: the directory with the machine. The user owns /home/core/app in it. */
export function makeHostileUser(root: string): HostileUser {
  const at = (path: string) => join(root, path);
  const app = at('/var/home/core/app');
  const aside = at('/var/home/core/aside');
  chmodSync(root, 0o755);
  for (const directory of [app, at(VICTIM)]) mkdirSync(directory, { recursive: true });
  for (const path of [at('/var/home/core'), app]) lchownSync(path, USER, USER);
  writeFileSync(at(`${VICTIM}/job`), 'of root\n');
  return {
    swap(target = VICTIM) {
      renameSync(app, aside);
      symlinkSync(target, app);
      lchownSync(app, USER, USER);
    },
    restore() {
      if (lstatSync(app).isSymbolicLink()) unlinkSync(app);
      renameSync(aside, app);
    },
    readVictim: () => [
      describe(at(VICTIM)),
      ...readdirSync(at(VICTIM)).map((name) => describe(at(`${VICTIM}/${name}`))),
    ],
    startSwapping: () => startSwapping(app),
  };
}

/** A new name, a removed one and a second name of a file all change one of these. */
function describe(path: string): unknown {
  const { mode, uid, nlink, ctimeNs, mtimeNs } = statSync(path, { bigint: true });
  const contents = statSync(path).isFile() ? readFileSync(path, 'utf8') : '';
  return [path, mode, uid, nlink, ctimeNs, mtimeNs, contents].join(' ');
}

function startSwapping(app: string): Swapping {
  const child = spawn(process.execPath, ['-e', SWAP, app, VICTIM, String(USER)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let reports = 0;
  child.stdout.on('data', (bytes: Buffer) => {
    reports += bytes.length;
  });
  const ended = once(child, 'exit');
  return {
    swaps: () => reports * SWAPS_PER_REPORT,
    async stop() {
      child.kill('SIGKILL');
      await ended;
      rmSync(app, { recursive: true, force: true });
      mkdirSync(app);
      lchownSync(app, USER, USER);
    },
  };
}

const SWAPS_PER_REPORT = 10;

/**
 * Runs in the other process. Root may have created the directory again, with contents, so each one is put aside under a
 * new name.
 */
const SWAP = `
const fs = require('node:fs');
const [app, victim, user] = process.argv.slice(1);
process.setgroups([]);
process.setgid(Number(user));
process.setuid(Number(user));
const attempt = (act) => { try { act(); return true; } catch { return false; } };
for (let tries = 0, swaps = 0; ; tries += 1) {
  const aside = app + '-' + tries;
  attempt(() => fs.renameSync(app, aside));
  if (attempt(() => fs.symlinkSync(victim, app)) && ++swaps % ${SWAPS_PER_REPORT} === 0) fs.writeSync(1, '.');
  attempt(() => fs.lstatSync(app).isSymbolicLink() && fs.unlinkSync(app));
  attempt(() => fs.renameSync(aside, app));
  attempt(() => fs.rmSync(app + '/job'));
  attempt(() => fs.writeFileSync(app + '/job', 'of the user'));
}
`;
