// A machine of a simulated fleet: the model of its daemon, one step after the other, and its kubelet as far as a boot shows.
import {
  type Annotations,
  applied,
  bornWith,
  type Change,
  look,
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

export function runMachine(site: MachineEnvironment, born: string): SimulatedMachine {
  let machine = bornWith(born);
  let isBusy = false;
  /** The Node has changed while the daemon was busy. */
  let isStale = false;
  let isDown = false;

  function wake(): void {
    isStale = true;
    if (isBusy) return;
    isBusy = true;
    site.after(site.takes.notice(), () => void go());
  }

  function rest(): void {
    isBusy = false;
    if (isStale) wake();
  }

  async function go(): Promise<void> {
    isStale = false;
    const node = await site.read();
    if (node === null) return;
    const step = look(machine, node);
    await tell(step.machine, step.says);
    await goOn(step.next, node);
  }

  async function tell(next: Machine, says: Annotations): Promise<void> {
    machine = next;
    if (Object.keys(says).length > 0) await site.say(says);
  }

  async function goOn(next: Next, node: Annotations): Promise<void> {
    if (next.type === 'wait') return rest();
    const { target } = next;
    const change = site.changeOf(machine.disk ?? '', target);
    if (next.type === 'prepare') site.after(site.takes.prepare(), () => void prepare(target, node, change));
    else site.after(site.takes.apply(), () => void apply(target, change));
  }

  async function prepare(target: string, node: Annotations, change: Change): Promise<void> {
    const step = prepared(machine, target, node, change);
    await tell(step.machine, step.says);
    await goOn(step.next, node);
  }

  async function apply(target: string, change: Change): Promise<void> {
    const done = applied(machine, target, change);
    await tell(done.machine, done.says);
    if (!done.reboots) return go();
    isDown = true;
    if (site.isMissed()) await site.setReady(false);
    const boot = site.takes.boot();
    if (boot !== Infinity) site.after(boot, () => void up());
  }

  async function up(): Promise<void> {
    if (!isDown) return;
    isDown = false;
    await site.setReady(true);
    await go();
  }

  return { wake, reset: () => void up() };
}
