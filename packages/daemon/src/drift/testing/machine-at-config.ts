// A machine with every kind of thing that a config can have, for tests.
import { expect } from 'vitest';
import type { Drift } from '../drift.ts';
import { heal } from '../heal.ts';
import { verifyMachine } from '../verify-machine.ts';
import {
  bringTo,
  packedFile,
  sampleConfig,
  sampleFile,
  sampleMachine,
  type SampleMachine,
  SERVICE,
} from './sample-machine.ts';

async function everything() {
  return sampleConfig(
    'rendered-worker-1',
    {
      files: [
        sampleFile('/etc/chrony.conf', 'server a\nserver b\nserver c\n'),
        sampleFile('/etc/first', 'one\n'),
        sampleFile('/etc/secret.conf', 'password=hunter2\n', { mode: 0o600 }),
        sampleFile('/etc/image.bin', 'a\u0000b'),
        await packedFile('/etc/packed.txt', 'line 1\nline 2\nline 3\n'),
        { path: '/etc/hostname', append: [{ source: 'data:,worker%0A' }] },
      ],
      directories: [{ path: '/etc/sample.d', mode: 0o750 }],
      links: [
        { path: '/etc/localtime', target: '../usr/share/zoneinfo/UTC' },
        { path: '/etc/second', target: '/etc/first', hard: true },
      ],
      units: [
        {
          name: 'sample.service',
          enabled: true,
          contents: SERVICE,
          dropins: [{ name: '10-a.conf', contents: '[Service]\n' }],
        },
        { name: 'twice.service', enabled: true, contents: SERVICE.replace('=multi', '=graphical.target multi') },
        { name: 'crio.service', enabled: true },
        { name: 'sshd.service', enabled: false },
        { name: 'bad.service', mask: true, enabled: true },
        { name: 'chronyd.service', mask: false },
      ],
      users: [{ name: 'core', sshAuthorizedKeys: ['ssh-ed25519 AAAA me'], passwordHash: '$6$salt$hash' }],
    },
    { kernelArguments: ['quiet a=b'], extensions: [] },
  );
}

interface MachineAtConfig extends SampleMachine {
  readonly check: () => Promise<Drift[]>;
  readonly healAll: () => Promise<void>;
}

export async function machineAtConfig(): Promise<MachineAtConfig> {
  const files = { '/etc/hostname': 'simulated\nworker\n' };
  const machine = await sampleMachine({ kernelArguments: ['quiet', 'a=b'], files });
  const config = await bringTo(machine.host, await everything());
  const check = () => verifyMachine(machine.host, config);
  return {
    ...machine,
    check,
    async healAll() {
      expect(await heal(machine.host, config, await check())).toEqual([]);
    },
  };
}

// Drift on a machine, for tests: a table of these, with one test each.

export interface DriftCase {
  readonly name: string;
  readonly change: (at: (path: string) => string) => void;
  readonly expected: Partial<Drift>;
  readonly needsRoot?: true;
}

/** Whether the user of the tests may not create it, and the resulting suffix of the title. */
export function howToRun({ needsRoot }: DriftCase): { readonly isSkipped: boolean; readonly note: string } {
  const isSkipped = needsRoot === true && process.getuid?.() !== 0;
  return { isSkipped, note: isSkipped ? ' (SKIPPED: only root can change owners)' : '' };
}
