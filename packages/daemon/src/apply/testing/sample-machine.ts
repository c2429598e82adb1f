// A simulated machine at the old config of a sample update, and how a daemon handles it: apply, reboot, resume.
import { planUpdate } from '@slipway/fleet';
import { createSimulatedHost, makeSimulatedMachine } from '@slipway/simulator';
import { verifyMachine } from '../../drift/verify-machine.ts';
import { type FileSystem, makeDirectories, ownOwners } from '../../host/file-system.ts';
import { writeCurrentConfig } from '../../stored-config.ts';
import { createUpdater, type UpdateResult } from '../updater.ts';
import { machineOptions, nothing, OLD_DIRECTORY, type SampleUpdate } from './sample-update.ts';

const MAX_REBOOTS = 12;

/** Created by the tested program itself, then verified against the config. */
export async function makeSampleMachine(files: FileSystem, { from }: SampleUpdate): Promise<void> {
  await makeSimulatedMachine(files, machineOptions);
  await makeDirectories(files, '/etc/app', ownOwners());
  await files.makeDirectory(OLD_DIRECTORY, { ...ownOwners(), mode: 0o750 });
  await writeCurrentConfig(files, nothing);
  const quiet = { files: [{ path: '/', actions: [{ type: 'None' as const }] }] };
  const plan = await planUpdate({ current: nothing, desired: from, policy: quiet });
  const result = await runToEnd(files, null, (updater) => updater.apply({ from: nothing, to: from, plan }));
  if (result.outcome !== 'new') throw new Error(`the sample machine cannot be created: ${JSON.stringify(result)}`);
}

/** From the old config, through all reboots, to the end. */
export function updateToEnd(files: FileSystem, update: SampleUpdate): Promise<UpdateResult> {
  return runToEnd(files, update, (updater) => updater.apply(update));
}

/** Does what a starting daemon does: resumes an interrupted update. */
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
    if (reboots === MAX_REBOOTS) throw new Error(`the machine is in a boot loop: ${JSON.stringify(result)}`);
    const next = await updaterOn(files, update).recover();
    // A machine that rebooted into its old config has nothing more to report.
    if (next.outcome === 'none') return result;
    result = next;
  }
  return result;
}

function isRebooting(result: UpdateResult): boolean {
  return result.outcome === 'rebooting' || (result.outcome === 'old' && result.rebooting);
}

/** Like a new process each time: no state in memory. */
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
