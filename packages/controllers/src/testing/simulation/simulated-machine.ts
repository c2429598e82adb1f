// A machine of a simulated fleet: the model of its daemon, step by step, and its kubelet as far as a boot is visible.
import {
  type Annotations,
  applied,
  provisionMachine,
  type Change,
  checkNode,
  type Machine,
  type Next,
  prepared,
} from './model-daemon.ts';

/** The environment of a machine: virtual time and an API in memory, or real time and a real API. */
export interface MachineEnvironment {
  after(this: void, ms: number, happen: () => void): void;
  /** What its Node shows; null: it is gone, and the machine with it. */
  read(this: void): Promise<Annotations | null>;
  say(this: void, annotations: Annotations): Promise<void>;
  setReady(this: void, isReady: boolean): Promise<void>;
  changeOf(this: void, from: string, to: string): Change;
  /** How long it takes to see a change of its Node, to prepare, to apply, and to boot; Infinity: forever. */
  readonly takes: { notice(): number; prepare(): number; apply(): number; boot(): number };
  /** Whether the cluster notices a boot at all: a short one is over before the kubelet is missed. */
  isMissed(this: void): boolean;
}

export interface SimulatedMachine {
  /** Its Node has changed. */
  wake(): void;
  /** A user power-cycles it. */
  reset(): void;
  /** A user changes a file of its config, or changes it back. */
  drift(hasDrifted: boolean): void;
}

export function runMachine(environment: MachineEnvironment, born: string): SimulatedMachine {
  let machine = provisionMachine(born);
  let isBusy = false;
  /** The Node changed while the daemon was busy. */
  let isStale = false;
  let isDown = false;

  function wake(): void {
    isStale = true;
    if (isBusy) return;
    isBusy = true;
    environment.after(environment.takes.notice(), () => void go());
  }

  function rest(): void {
    isBusy = false;
    if (isStale) wake();
  }

  async function go(): Promise<void> {
    isStale = false;
    const node = await environment.read();
    if (node === null) return;
    const step = checkNode(machine, node);
    await publish(step.machine, step.says);
    await goOn(step.next, node);
  }

  async function publish(next: Machine, says: Annotations): Promise<void> {
    machine = next;
    if (Object.keys(says).length > 0) await environment.say(says);
  }

  async function goOn(next: Next, node: Annotations): Promise<void> {
    if (next.type === 'wait') return rest();
    const { target } = next;
    const change = environment.changeOf(machine.disk ?? '', target);
    if (next.type === 'prepare')
      environment.after(environment.takes.prepare(), () => void prepare(target, node, change));
    else environment.after(environment.takes.apply(), () => void apply(target, change));
  }

  async function prepare(target: string, node: Annotations, change: Change): Promise<void> {
    const step = prepared(machine, target, node, change);
    await publish(step.machine, step.says);
    await goOn(step.next, node);
  }

  async function apply(target: string, change: Change): Promise<void> {
    const done = applied(machine, target, change);
    await publish(done.machine, done.says);
    if (!done.reboots) return go();
    isDown = true;
    if (environment.isMissed()) await environment.setReady(false);
    const boot = environment.takes.boot();
    if (boot !== Infinity) environment.after(boot, () => void up());
  }

  async function up(): Promise<void> {
    if (!isDown) return;
    isDown = false;
    await environment.setReady(true);
    await go();
  }

  return {
    wake,
    reset: () => void up(),
    drift(hasDrifted) {
      machine = { ...machine, hasDrifted };
      wake();
    },
  };
}
