// A simulated machine in memory that the updater moves from config to config, through all reboots.
import { type NodeDisruptionPolicy, planUpdate } from '@slipway/fleet';
import { createSimulatedHost, makeSimulatedMachine, type SimulatedMachineOptions } from '@slipway/simulator';
import { verifyMachine } from '../../drift/verify-machine.ts';
import { type FileSystem, ownOwners } from '../../host/file-system.ts';
import type { Host } from '../../host/host.ts';
import { emptyImage } from '../../host/testing/disk-image.ts';
import { createMemoryDisk } from '../../host/testing/memory-disk.ts';
import { type StoredConfig, writeCurrentConfig } from '../../stored-config.ts';
import { createUpdater, type UpdateResult, type UpdateStep } from '../updater.ts';

export type Spec = StoredConfig['spec'];

export const named = (name: string, spec: Spec = {}): StoredConfig => ({ name: `rendered-worker-${name}`, spec });

export const ignition = (config: object): Spec => ({ config: { ignition: { version: '3.5.0' }, ...config } });

export const dataUrl = (text: string): string => `data:;base64,${Buffer.from(text).toString('base64')}`;

export const file = (path: string, text: string, rest: object = {}): object => ({
  path,
  overwrite: true,
  contents: { source: dataUrl(text) },
  ...rest,
});

export const withFiles = (...files: object[]): Spec => ignition({ storage: { files } });
export const withUnits = (...units: object[]): Spec => ignition({ systemd: { units } });

/** No change needs an action. */
const QUIET: NodeDisruptionPolicy = {
  files: [{ path: '/', actions: [{ type: 'None' }] }],
  units: [],
  sshkey: { actions: [{ type: 'None' }] },
};

export interface SmallMachine {
  readonly files: FileSystem;
  readonly host: Host;
  readonly steps: UpdateStep[];
  readonly at: () => StoredConfig;
  /** Runs to the end, through all reboots. */
  update(to: StoredConfig, policy?: NodeDisruptionPolicy): Promise<UpdateResult>;
  recover(): Promise<UpdateResult>;
}

export async function makeSmallMachine(options: SimulatedMachineOptions = {}): Promise<SmallMachine> {
  const files = createMemoryDisk(emptyImage(ownOwners()));
  await makeSimulatedMachine(files, options);
  const start = named('nothing');
  await writeCurrentConfig(files, start);
  return machineOn(files, start);
}

export function machineOn(
  files: FileSystem,
  start: StoredConfig,
  change: (host: Host) => Host = (host) => host,
): SmallMachine {
  const host = change(createSimulatedHost({ root: '/', files }));
  const steps: UpdateStep[] = [];
  const updater = createUpdater({
    host,
    programVersion: 'test',
    onStep: (step) => void steps.push(step),
    verify: (config) => verifyMachine(host, config),
  });
  let at = start;

  async function toEnd(result: UpdateResult, to: StoredConfig): Promise<UpdateResult> {
    let last = result;
    while (last.outcome === 'rebooting' || (last.outcome === 'old' && last.rebooting)) last = await updater.recover();
    if (last.outcome === 'new') at = to;
    return last;
  }

  return {
    files,
    host,
    steps,
    at: () => at,
    async update(to, policy = QUIET) {
      const plan = await planUpdate({ current: at, desired: to, policy });
      return toEnd(await updater.apply({ from: at, to, plan }), to);
    },
    recover: async () => toEnd(await updater.recover(), at),
  };
}

export async function textAt(files: FileSystem, path: string): Promise<string | null> {
  const found = await files.lookAt(path);
  if (found?.kind === 'link') return `→ ${found.target}`;
  return found?.kind === 'file' ? Buffer.from(await files.read(path, 1_000_000)).toString() : null;
}
