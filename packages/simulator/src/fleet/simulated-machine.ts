// One simulated machine: its name, whether it is up, what it tells of itself, and what may be made to go wrong with it.
import { createDisk, type FileSystem, type Host } from '@slipway/daemon';
import { bootSimulatedMachine, createSimulatedHost } from '../host/simulated-host.ts';

export interface MachineName {
  readonly name: string;
  readonly pool: string;
  readonly number: number;
}

/**
 * What can be wrong with a machine beside its disk, for tests: it goes down and does not come back; it boots again and again and
 * never gets to work; it is up, but its daemon does nothing.
 */
export type Trouble = 'stays down' | 'boots for ever' | 'hangs';

export interface SimulatedMachine extends MachineName {
  readonly root: string;
  readonly files: FileSystem;
  isUp: boolean;
  trouble: Trouble | null;
  /** What its Node was last told; '' for nothing in this run. */
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
 * It syncs nothing: hundreds of machines on one disk would wait for it most of the time. What a power cut of the computer that it is
 * simulated on leaves of it may be good for nothing; a crash of the program loses nothing.
 */
export const simulatedDisk = (root: string): FileSystem => ({
  ...createDisk({ root }),
  syncFile: async () => {},
  syncDirectory: async () => {},
});

export const createMachineHost = ({ root, files }: SimulatedMachine, onReboot: () => void): Host =>
  createSimulatedHost({ root, files, onReboot });

/** One that was under way to something goes on with it after the next boot. */
export const cutPower = ({ files }: SimulatedMachine): Promise<void> => bootSimulatedMachine(files, 'power cut');

// A machine is named for its pool: its directory is all that is kept of it.

const FORM = /^([a-z0-9]([a-z0-9-]*[a-z0-9])?)-(\d{1,6})$/;

export const machineName = (pool: string, number: number): MachineName => ({ name: `${pool}-${number}`, pool, number });

/** Undefined: a directory of somebody else. */
export function readMachineName(name: string): MachineName | undefined {
  const [, pool, , number] = FORM.exec(name) ?? [];
  return pool === undefined || number === undefined ? undefined : { name, pool, number: Number(number) };
}

/** The first that nobody has. */
export function nextMachineName(pool: string, taken: ReadonlySet<string>): MachineName {
  for (let number = 0; ; number += 1) {
    const next = machineName(pool, number);
    if (!taken.has(next.name)) return next;
  }
}

/** By pool, then by number: worker-10 comes after worker-9. */
export const byMachineName = (a: MachineName, b: MachineName): number =>
  a.pool === b.pool ? a.number - b.number : a.pool < b.pool ? -1 : 1;
