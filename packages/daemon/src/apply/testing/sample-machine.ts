// A simulated machine at the old config of a sample update, and the daemon's way with it: apply, reboot, go on after that.
import { planUpdate } from '@slipway/fleet';
import { createSimulatedHost, makeSimulatedMachine } from '@slipway/simulator';
import { verifyMachine } from '../../drift/verify-machine.ts';
import { type FileSystem, makeDirectories, ownOwners } from '../../host/file-system.ts';
import { writeCurrentConfig } from '../../stored-config.ts';
import { createUpdater, type UpdateResult } from '../updater.ts';
import { machineOptions, nothing, OLD_DIRECTORY, type SampleUpdate } from './sample-update.ts';

const MAX_REBOOTS = 12;

/** Made by the same program that is tested: what it must be is said by the config, and verified. */
export async function makeSampleMachine(files: FileSystem, { from }: SampleUpdate): Promise<void> {
  await makeSimulatedMachine(files, machineOptions);
  await makeDirectories(files, '/etc/app', ownOwners());
  await files.makeDirectory(OLD_DIRECTORY, { ...ownOwners(), mode: 0o750 });
  await writeCurrentConfig(files, nothing);
  const quiet = { files: [{ path: '/', actions: [{ type: 'None' as const }] }] };
  const plan = await planUpdate({ current: nothing, desired: from, policy: quiet });
  const result = await runToEnd(files, null, (updater) => updater.apply({ from: nothing, to: from, plan }));
  if (result.outcome !== 'new') throw new Error(`the sample machine cannot be made: ${JSON.stringify(result)}`);
}

/** From the old config, with all reboots on the way, to where it ends. */
export function updateToEnd(files: FileSystem, update: SampleUpdate): Promise<UpdateResult> {
  return runToEnd(files, update, (updater) => updater.apply(update));
}

/** As a daemon does that starts: goes on with what was under way. */
export function recoverToEnd(files: FileSystem, update: SampleUpdate): Promise<UpdateResult> {
  return runToEnd(files, update, (updater) => updater.recover());
}

type Updater = ReturnType<typeof createUpdater>;

async function runToEnd(
  files: FileSystem,
  update: SampleUpdate | null,
  start: (updater: Updater) => Promise<UpdateResult>,
): Promise<UpdateResult> {
  let result = await start(updaterOn(files, update));
  for (let reboots = 0; isRebooting(result); reboots += 1) {
    if (reboots === MAX_REBOOTS) throw new Error(`the machine boots again and again: ${JSON.stringify(result)}`);
    const next = await updaterOn(files, update).recover();
    // A machine that went down at its old config has no more to say.
    if (next.outcome === 'none') return result;
    result = next;
  }
  return result;
}

function isRebooting(result: UpdateResult): boolean {
  return result.outcome === 'rebooting' || (result.outcome === 'old' && result.rebooting);
}

/** Another process each time: nothing is kept in memory. */
function updaterOn(files: FileSystem, update: SampleUpdate | null): Updater {
  const host = createSimulatedHost({ root: '/', files });
  return createUpdater({
    host,
    programVersion: 'test',
    verify: async (config) =>
      update?.failsToVerify === true && config.name === update.to.name
        ? [{ message: 'said to be another one, for the test' }]
        : verifyMachine(host, config),
  });
}
