// An update with everything that an update can have: 20 files, 3 units, a removed directory, keys, a password, kernel
// arguments. Tests interrupt it in every possible way.
import { type NodeDisruptionPolicy, planUpdate, type UpdatePlan } from '@slipway/fleet';
import type { SimulatedMachineOptions } from '@slipway/simulator';
import type { StoredConfig } from '../../stored-config.ts';

export interface SampleUpdate {
  /** Human-readable: what happens in it. */
  readonly name: string;
  readonly from: StoredConfig;
  readonly to: StoredConfig;
  readonly plan: UpdatePlan;
  /** After the update, verification reports a difference. */
  readonly failsToVerify: boolean;
  /** Where it ends undisturbed. */
  readonly endsAt: 'old' | 'new';
}

export const sampleNames = [
  'update',
  'update that fails',
  'update with reboot',
  'update with reboot that fails',
] as const;
export type SampleName = (typeof sampleNames)[number];

const KERNEL_ARGUMENTS = ['mitigations=auto'];

/** Files of the OS, below those of the configs. */
const osFiles: NonNullable<SimulatedMachineOptions['files']> = {
  '/etc/chrony.conf': 'pool of.the.os\n',
  '/etc/motd': 'from the OS\n',
};
export const machineOptions: SimulatedMachineOptions = { files: osFiles, kernelArguments: KERNEL_ARGUMENTS };

/** Directories are created only at a first boot, so this one exists before the first config. */
export const OLD_DIRECTORY = '/etc/app/old.d';

/** For a machine with nothing but that directory. */
export const nothing = buildConfig('nothing', { storage: { directories: [{ path: OLD_DIRECTORY, mode: 0o750 }] } });

export async function sampleUpdate(name: SampleName): Promise<SampleUpdate> {
  const reboots = name.startsWith('update with reboot');
  const fails = name.endsWith('fails');
  const from = oldConfig();
  const to = newConfig({ kernelArguments: reboots, brokenUnit: fails && !reboots });
  const plan = await planUpdate({ current: from, desired: to, policy: reboots ? {} : policy });
  if (plan.irreconcilable.length > 0) throw new Error(plan.irreconcilable[0]?.message);
  return { name, from, to, plan, failsToVerify: fails && reboots, endsAt: fails ? 'old' : 'new' };
}

/** No reboot: services are reloaded or restarted. */
const policy: NodeDisruptionPolicy = {
  files: [{ path: '/', actions: [{ type: 'Reload', reload: { serviceName: 'crio.service' } }] }],
  units: ['app.service', 'crio.service', 'helper.service'].map((name) => ({
    name,
    actions: [{ type: 'DaemonReload' }, { type: 'Restart', restart: { serviceName: 'app.service' } }],
  })),
};

const file = (path: string, text: string, mode = 0o644): object => ({
  path,
  mode,
  overwrite: true,
  contents: { source: `data:text/plain;charset=utf-8;base64,${Buffer.from(text).toString('base64')}` },
});

const settings = (count: number, text: string): object[] =>
  Array.from({ length: count }, (_, index) =>
    file(`/etc/app/conf.d/${index}.conf`, `${text} ${index}\n`.repeat(index + 1)),
  );

/** 20 files: 12 of one kind, and 8 special cases. */
function oldConfig(): StoredConfig {
  return buildConfig(
    'old',
    {
      passwd: { users: [{ name: 'core', passwordHash: '$6$old', sshAuthorizedKeys: ['ssh-ed25519 AAAA old'] }] },
      storage: {
        directories: [{ path: OLD_DIRECTORY, mode: 0o750 }],
        files: [
          ...settings(12, 'old'),
          file('/etc/app/same', 'the same in both\n'),
          file('/etc/app/mode', 'another mode\n', 0o600),
          file('/etc/app/goes', 'goes\n'),
          file(`${OLD_DIRECTORY}/last`, 'goes with its directory\n'),
          file('/etc/chrony.conf', 'pool of.the.config\n'),
          file('/usr/local/bin/tool', '#!/bin/sh\necho old\n', 0o755),
          file('/etc/app/to-mask', 'a file in both\n'),
          file('/var/lib/app/state', '', 0o600),
        ],
      },
      systemd: {
        units: [
          { name: 'app.service', enabled: true, contents: unit('/usr/bin/app --old', 'multi-user.target') },
          { name: 'crio.service', dropins: [{ name: '10-old.conf', contents: '[Service]\nEnvironment=A=old\n' }] },
          { name: 'helper.service', enabled: true, contents: unit('/usr/bin/helper', 'multi-user.target') },
        ],
      },
    },
    KERNEL_ARGUMENTS,
  );
}

function newConfig(has: { readonly kernelArguments: boolean; readonly brokenUnit: boolean }): StoredConfig {
  const start = has.brokenUnit ? '/usr/bin/false' : '/usr/bin/app --new';
  return buildConfig(
    'new',
    {
      passwd: { users: [{ name: 'core', passwordHash: '$6$new', sshAuthorizedKeys: ['ssh-ed25519 AAAA new'] }] },
      storage: {
        files: [
          ...settings(12, 'new'),
          file('/etc/app/same', 'the same in both\n'),
          file('/etc/app/mode', 'another mode\n', 0o755),
          file('/etc/app/added/below/deep', 'in directories that are made for it\n', 0o640),
          file('/etc/motd', 'over that of the OS\n'),
          file('/usr/local/bin/tool', '#!/bin/sh\necho new\n', 0o755),
          file('/etc/app/to-mask', 'a file in both, changed\n'),
          file('/var/lib/app/state', 'x'.repeat(5000), 0o600),
          file('/home/core/notes', 'through a link\n'),
        ],
      },
      systemd: {
        units: [
          { name: 'app.service', enabled: true, contents: unit(start, 'graphical.target') },
          {
            name: 'crio.service',
            enabled: true,
            dropins: [{ name: '20-new.conf', contents: '[Service]\nEnvironment=A=new\n' }],
          },
          { name: 'helper.service', mask: true },
        ],
      },
    },
    has.kernelArguments ? ['mitigations=off', 'quiet'] : KERNEL_ARGUMENTS,
  );
}

function unit(start: string, wantedBy: string): string {
  return `[Service]\nExecStart=${start}\n[Install]\nWantedBy=${wantedBy}\n`;
}

function buildConfig(name: string, config: object, kernelArguments = KERNEL_ARGUMENTS): StoredConfig {
  return {
    name: `rendered-worker-${name}`,
    spec: { config: { ignition: { version: '3.5.0' }, ...config }, kernelArguments },
  };
}
