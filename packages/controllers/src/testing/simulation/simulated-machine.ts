// A machine of a simulated fleet: the model of its daemon, one step after the other, and its kubelet as far as a boot shows.
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

/** Where a machine lives: in virtual time on an API in memory, or in real time on a real one. */
export interface MachineEnvironment {
  after(this: void, ms: number, happen: () => void): void;
  /** What its Node says; null: it is gone, and the machine with it. */
  read(this: void): Promise<Annotations | null>;
  say(this: void, annotations: Annotations): Promise<void>;
  setReady(this: void, isReady: boolean): Promise<void>;
  changeOf(this: void, from: string, to: string): Change;
  /** How long it takes to see a change of its Node, to prepare, to change the machine, and to boot; Infinity: for ever. */
  readonly takes: { notice(): number; prepare(): number; apply(): number; boot(): number };
  /** Whether the cluster hears of a boot at all: a short one is over before a kubelet is missed. */
  isMissed(this: void): boolean;
}

export interface SimulatedMachine {
  /** Its Node has changed. */
  wake(): void;
  /** Somebody goes there and switches it off and on. */
  reset(): void;
}

export function runMachine(environment: MachineEnvironment, born: string): SimulatedMachine {
  let machine = provisionMachine(born);
  let isBusy = false;
  /** The Node has changed while the daemon was busy. */
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

  return { wake, reset: () => void up() };
}
