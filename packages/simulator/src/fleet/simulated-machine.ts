// One simulated machine: its name, whether it is up, what it reports, and the faults that tests inject.
import { createDisk, type FileSystem, type Host } from '@slipway/daemon';
import { bootSimulatedMachine, createSimulatedHost } from '../host/simulated-host.ts';

export interface MachineName {
  readonly name: string;
  readonly pool: string;
  readonly number: number;
}

/**
 * Faults of a machine other than its disk, for tests: it goes down and stays down; it is stuck in a boot loop; it is
 * up, but its daemon does nothing.
 */
export type Trouble = 'stays down' | 'boots for ever' | 'hangs';

export interface SimulatedMachine extends MachineName {
  readonly root: string;
  readonly files: FileSystem;
  isUp: boolean;
  trouble: Trouble | null;
  /** The last state reported to its Node. '' for nothing in this run. */
  told: string;
}

export const machineAt = (name: MachineName, root: string): SimulatedMachine => ({
  ...name,
  root,
  files: simulatedDisk(root),
  isUp: true,
  trouble: null,
  told: '',
});

/**
 * Does not sync: hundreds of machines on one disk would mostly wait for it. A power cut of the real computer may
 * corrupt it, but a crash of the program loses nothing.
 */
export const simulatedDisk = (root: string): FileSystem => ({
  ...createDisk({ root }),
  syncFile: async () => {},
  syncDirectory: async () => {},
});

export const createMachineHost = ({ root, files }: SimulatedMachine, onReboot: () => void): Host =>
  createSimulatedHost({ root, files, onReboot });

/** An interrupted update continues after the next boot. */
export const cutPower = ({ files }: SimulatedMachine): Promise<void> => bootSimulatedMachine(files, 'power cut');

// A machine is named after its pool: its directory is the only record of it.

const FORM = /^([a-z0-9]([a-z0-9-]*[a-z0-9])?)-(\d{1,6})$/;

export const machineName = (pool: string, number: number): MachineName => ({ name: `${pool}-${number}`, pool, number });

/** Undefined: the directory is not a machine. */
export function readMachineName(name: string): MachineName | undefined {
  const [, pool, , number] = FORM.exec(name) ?? [];
  return pool === undefined || number === undefined ? undefined : { name, pool, number: Number(number) };
}

/** The first free name from this number on. */
export function nextMachineName(pool: string, taken: ReadonlySet<string>, first = 0): MachineName {
  for (let number = first; ; number += 1) {
    const next = machineName(pool, number);
    if (!taken.has(next.name)) return next;
  }
}

/** By pool, then by number: worker-10 comes after worker-9. */
export const byMachineName = (a: MachineName, b: MachineName): number =>
  a.pool === b.pool ? a.number - b.number : a.pool < b.pool ? -1 : 1;
