// A simulated machine whose OS is real: our adapters, with the stand-in for the tools that they call.
import { type FileSystem, ownOwners, readText, replaceFile } from '../file-system.ts';
import type { Host } from '../host.ts';
import { openOS } from '../os/open-os.ts';
import type { StandInMachine } from './stand-in-machine.ts';

export { makeStandInMachine, type StandInMachine, type StandInOptions } from './stand-in-machine.ts';

const RETRY_POLICY = { busyForMs: 200, busyEveryMs: 10, network: { firstMs: 10, maxMs: 10 }, networkRetries: 2 };

const OS_RELEASE = '/etc/os-release';
const MAX_RELEASE_BYTES = 64 * 1024;

/** Called at each start of the daemon: the tool is chosen again, as on a machine. */
export async function openStandInHost(machine: StandInMachine, simulated: Host): Promise<Host> {
  const { files } = simulated;
  // The initramfs writes it at each boot.
  if (!machine.state().isComposefs && (await files.lookAt('/run/ostree-booted')) === null) {
    await files.createFile('/run/ostree-booted', { ...ownOwners(), mode: 0o644, bytes: new Uint8Array() });
  }
  const commandLine = () => machine.commandLine();
  // The kernel decides by this argument.
  const fipsEnabled = async () => (machine.state().booted.kernelArguments.includes('fips=1') ? '1\n' : '0\n');
  const { kind, os } = await openOS({ files, run: machine.run, patience: RETRY_POLICY, commandLine, fipsEnabled });
  return {
    ...simulated,
    kind,
    os,
    async reboot(why) {
      machine.boot();
      await updateRelease(files, machine.state().booted.version);
      await simulated.reboot(why);
    },
  };
}

/** The file belongs to the booted image. */
async function updateRelease(files: FileSystem, version: string): Promise<void> {
  const before = (await readText(files, OS_RELEASE, MAX_RELEASE_BYTES)) ?? '';
  const after = before.replace(/^RHEL_VERSION=.*$/m, `RHEL_VERSION="${version}"`);
  if (after === before) return;
  await replaceFile(files, OS_RELEASE, { ...ownOwners(), mode: 0o644, bytes: Buffer.from(after) });
}
