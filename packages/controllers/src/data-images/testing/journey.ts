// A simulation: the whole life of a host and its DataImages, without faults, with the controller killed at chosen
// points.
import { createRandom } from '@slipway/testing/random';
import { simulatedOptions } from './scenario.ts';
import { SimulatedController } from './simulated-controller.ts';
import { SimulatedWorld } from './simulated-world.ts';

const [first, second] = ['http://iso.example/a.iso', 'http://iso.example/b.iso'];
const request = { key: '', mode: 'hard', since: 0 } as const;

interface Chapter {
  readonly name: string;
  readonly begin: (world: SimulatedWorld) => void;
  /** The final state of the host and its drive. */
  readonly power: 'on' | 'off';
  readonly drive: string | null;
}

const chapters: readonly Chapter[] = [
  { name: 'registered', begin: () => undefined, power: 'on', drive: null },
  { name: 'an image waits', begin: (world) => world.userChangesImage({ url: first }), power: 'on', drive: null },
  {
    name: 'attached on reboot',
    begin: (world) => world.userChangesHost({ reboots: [request] }),
    power: 'on',
    drive: first,
  },
  { name: 'a change waits', begin: (world) => world.userChangesImage({ url: second }), power: 'on', drive: first },
  {
    name: 'changed on reboot',
    begin: (world) => world.userChangesHost({ reboots: [request] }),
    power: 'on',
    drive: second,
  },
  { name: 'a deletion waits', begin: (world) => world.userChangesImage(null), power: 'on', drive: second },
  { name: 'switched off', begin: (world) => world.userChangesHost({ online: false }), power: 'off', drive: null },
  { name: 'attached while off', begin: (world) => world.userChangesImage({ url: first }), power: 'off', drive: first },
  {
    name: 'attached on power-on',
    begin: (world) => world.userChangesHost({ online: true }),
    power: 'on',
    drive: first,
  },
  {
    name: 'changed at once',
    begin: (world) => world.userChangesImage({ url: second, immediate: true }),
    power: 'on',
    drive: second,
  },
  { name: 'detached', begin: (world) => world.userChangesHost({ isDetached: true }), power: 'on', drive: second },
  {
    name: 'attached again',
    begin: (world) => world.userChangesHost({ isDetached: false }),
    power: 'on',
    drive: second,
  },
  {
    name: 'deleted',
    begin: (world) => world.userChangesHost({ isDeleting: true, deletingSince: world.ironic.now }),
    power: 'on',
    drive: null,
  },
];

export interface Journey {
  readonly violations: readonly string[];
  /** The kill points that were passed. */
  readonly places: number;
  /** How often the host was powered off. */
  readonly offs: number;
}

/** Kill points, counted from 0. */
export function runJourney(killedAt: ReadonlySet<number>): Journey {
  const world = new SimulatedWorld(createRandom(1));
  const controller = new SimulatedController(world, simulatedOptions);
  const { ironic } = world;
  let places = 0;
  const mayGoOn = (): boolean => {
    places += 1;
    return !killedAt.has(places - 1);
  };
  for (const { name, begin, power, drive } of chapters) {
    begin(world);
    settle(world, controller, mayGoOn);
    if (ironic.power !== power) ironic.violate(`${name}: the host is ${ironic.power}`);
    const found = ironic.medium?.url ?? null;
    if (found !== drive) ironic.violate(`${name}: in the drive is ${found}`);
  }
  if (world.host !== null || world.image !== null || ironic.hasNode) ironic.violate('deleted: something is left');
  return { violations: ironic.violations, places, offs: ironic.offs };
}

function settle({ ironic }: SimulatedWorld, controller: SimulatedController, mayGoOn: () => boolean): void {
  for (let round = 0, quiet = 0; quiet < 3; round += 1) {
    if (round === 1000) return ironic.violate('no end');
    const wait = reconcile(controller, mayGoOn);
    quiet = wait === null && !ironic.isWorking ? quiet + 1 : 0;
    ironic.advance(wait ?? 1000);
  }
}

/** Until when it waits; null: until something changes. */
function reconcile(controller: SimulatedController, mayGoOn: () => boolean): number | null {
  const run = controller.reconcile(false);
  for (;;) {
    const at = run.next();
    if (at.done === true) return at.value.type === 'wait' ? at.value.ms : 1;
    if (!mayGoOn()) return 1;
  }
}
