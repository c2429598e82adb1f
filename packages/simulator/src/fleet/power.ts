// Machines that boot and go down: a boot takes time, restarts only that machine's daemon, and may never finish.
import { setTimeout as wait } from 'node:timers/promises';
import type { Host } from '@slipway/daemon/host';
import type { Log } from '@slipway/kube';
import type { ManyDaemons } from './many-daemons.ts';
import { cutPower, createMachineHost, type SimulatedMachine, type Trouble } from './simulated-machine.ts';

/** Replaces parts of a machine. Called at each start of its daemon. */
export type WrapHost = (machine: { readonly name: string; readonly root: string }, host: Host) => Promise<Host>;

export interface PowerOptions {
  readonly daemons: ManyDaemons;
  readonly bootMs: number;
  readonly wrapHost?: WrapHost | undefined;
  readonly log: Log;
  /** Aborted when the fleet stops: no machine boots after that. */
  readonly signal: AbortSignal;
}

export interface Power {
  on(machine: SimulatedMachine): Promise<void>;
  /** Permanently. */
  off(machine: SimulatedMachine): Promise<void>;
  setTrouble(machine: SimulatedMachine, trouble: Trouble | null): Promise<void>;
  /**
   * Calls `wake` with the name of every machine, and again when it boots or goes down. Returns a function that stops
   * it.
   */
  onChange(this: void, wake: (name: string) => void): () => void;
  /** Resolves when no boot is in progress. */
  settled(): Promise<void>;
}

/** The RestartSec of the daemon's unit. */
const RESTART_MS = 5000;

export function createPower({ daemons, bootMs, wrapHost, log, signal }: PowerOptions): Power {
  const listeners = new Set<(name: string) => void>();
  const boots = new Set<Promise<void>>();
  const machines = new Set<SimulatedMachine>();

  function change(machine: SimulatedMachine, isUp: boolean): void {
    machine.isUp = isUp;
    for (const wake of listeners) wake(machine.name);
  }

  /** Called by the machine during a step of its daemon. */
  function reboot(machine: SimulatedMachine): void {
    change(machine, false);
    log.info({ node: machine.name }, 'a simulated machine is booting');
    const boot = comeBack(machine)
      .catch((error: unknown) => {
        if (!signal.aborted) log.error({ err: error, node: machine.name }, 'a simulated machine does not boot');
      })
      .finally(() => boots.delete(boot));
    boots.add(boot);
  }

  async function comeBack(machine: SimulatedMachine): Promise<void> {
    await daemons.stop(machine.name);
    do {
      await wait(bootMs, undefined, { signal });
      if (machine.trouble === 'boots for ever') await cutPower(machine);
    } while (machine.trouble === 'boots for ever' || machine.trouble === 'stays down');
    if (machines.has(machine)) await comeUp(machine);
  }

  async function comeUp(machine: SimulatedMachine): Promise<void> {
    change(machine, true);
    if (machine.trouble !== 'hangs') await startDaemon(machine);
  }

  async function startDaemon(machine: SimulatedMachine): Promise<void> {
    const plain = createMachineHost(machine, () => reboot(machine));
    for (;;) {
      try {
        const host = (await wrapHost?.(machine, plain)) ?? plain;
        return await daemons.start({ nodeName: machine.name, host, root: machine.root });
      } catch (error) {
        log.error({ err: error, node: machine.name }, 'the daemon of a simulated machine does not start; retrying');
        await wait(RESTART_MS, undefined, { signal });
      }
    }
  }

  return {
    async on(machine) {
      machines.add(machine);
      await comeUp(machine);
    },
    async off(machine) {
      machines.delete(machine);
      await daemons.stop(machine.name);
    },
    async setTrouble(machine, trouble) {
      const before = machine.trouble;
      machine.trouble = trouble;
      if (trouble === 'hangs') await daemons.stop(machine.name);
      else if (before === 'hangs' && machine.isUp) await startDaemon(machine);
    },
    onChange(wake) {
      listeners.add(wake);
      for (const { name } of machines) wake(name);
      return () => listeners.delete(wake);
    },
    async settled() {
      await Promise.all(boots);
    },
  };
}
