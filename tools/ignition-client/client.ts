import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { unpackDebian, type DebianOptions } from '../debian/debian.ts';
import { resolveBuilt } from './build.ts';

export { ToolsError } from '../controlplane/errors.ts';

/** The program that a machine runs at first boot, and the tools it needs. Plain data. */
export interface IgnitionClient {
  /** Of the program itself: 2.14.0. */
  version: string;
  path: string;
  /** Shared libraries of the program, for LD_LIBRARY_PATH. */
  libraryPath: string;
  /** Debian's, whatever the machine has: a container often has none, or a dummy. */
  systemctl: { path: string; libraryPath: string };
}

/** Debian's package: 2.14 in Debian 12. */
export async function resolveDebianIgnition(options: DebianOptions = {}): Promise<IgnitionClient> {
  const { directory, versions, libraryPath } = await unpackDebian([{ name: 'ignition', least: [2, 14, 0] }], options);
  return {
    version: (versions['ignition'] ?? '').replace(/[+-].*$/, ''),
    path: join(directory, 'usr/lib/dracut/modules.d/30ignition/ignition'),
    libraryPath,
    systemctl: await resolveSystemctl(options),
  };
}

/** The pinned version, built once from its Go module into the user's cache. */
export async function resolveBuiltIgnition(options: DebianOptions = {}): Promise<IgnitionClient> {
  const { path, version } = await resolveBuilt(options);
  return { version, path, libraryPath: '', systemctl: await resolveSystemctl(options) };
}

async function resolveSystemctl(options: DebianOptions): Promise<IgnitionClient['systemctl']> {
  const { directory, libraryPath } = await unpackDebian([{ name: 'systemd', least: [245, 0, 0] }], options);
  // Debian 13 has moved everything below usr.
  const inUsr = join(directory, 'usr/bin/systemctl');
  return { path: existsSync(inUsr) ? inUsr : join(directory, 'bin/systemctl'), libraryPath };
}
