import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { clearUpAfterKill } from './data-dir.ts';

export interface Watchdog {
  pid: number;
  /** The launcher has stopped its programs itself. */
  dismiss(): Promise<void>;
}

// A waiting shell takes 1 MB. A line on its input means a normal exit. End of file, which the kernel causes however the
// launcher dies, means it was killed, and the shell then executes this file with Node.
const SCRIPT = 'read -r line && exit 0; exec "$@"';

/** Starts a process that outlives this one and ends the programs of the data directory if this one is killed. */
export async function startWatchdog(dataDir: string, temporary: boolean): Promise<Watchdog> {
  const self = fileURLToPath(import.meta.url);
  const args = ['-c', SCRIPT, 'slipway-watchdog', process.execPath, self, dataDir, temporary ? 'temporary' : 'kept'];
  // A separate session, so that a signal to the launcher's process group does not kill it.
  const child = spawn('/bin/sh', args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true, cwd: '/' });
  await once(child, 'spawn');
  const exit = once(child, 'exit');
  return {
    pid: child.pid ?? 0,
    async dismiss() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.stdin.end('done\n');
      await exit;
    },
  };
}

if (import.meta.main) {
  const [dataDir = '', kind] = process.argv.slice(2);
  await clearUpAfterKill(dataDir);
  if (kind === 'temporary') await rm(dataDir, { recursive: true, force: true });
}
