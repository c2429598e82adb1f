// A simulation with random users, random faults and random kills of the controller; then a quiet phase, and a final
// check.
import { type HostMemory, isOwn, isPlain, type StepOptions, DEFAULT_STEP_OPTIONS } from '@slipway/fleet/hosts';
import { createRandom, type Random } from '@slipway/testing/random';
import { type Faults, noFaults } from './simulated-faults.ts';
import { MAX_LAG_MS } from './simulated-ironic.ts';
import { runOperator } from './simulated-operator.ts';
import { SimulatedController } from './simulated-controller.ts';
import { SimulatedWorld } from './simulated-world.ts';

const rough: Faults = {
  cut: 0.1,
  busy: 0.1,
  swallowed: 0.05,
  failed: 0.15,
  lag: 0.25,
  lie: 0.1,
  unreadable: 0.1,
  restart: 0.03,
};

/** Short, so that a run sees many tries. */
export const simulatedOptions: StepOptions = { ...DEFAULT_STEP_OPTIONS, settleMs: MAX_LAG_MS + 10_000, minuteMs: 5000 };

type UserAction = (world: SimulatedWorld, random: Random) => void;

const userActions: Readonly<Record<string, UserAction>> = {
  online: (world) => world.userChangesHost({ online: true }),
  offline: (world) => world.userChangesHost({ online: false }),
  reboot: (world, random) => request(world, '', random.chance(0.5) ? 'hard' : 'soft'),
  hold: (world) => request(world, 'somebody', 'soft'),
  'let go': (world) => {
    // Includes our own power-on: it becomes visible as late as a press of the power button.
    if (world.host?.object.reboots.some(isOwn) === true) world.ironic.pressPowerButton(world.ironic.power);
    world.userChangesHost({ reboots: world.host?.object.reboots.filter(isPlain) ?? [] });
  },
  'never off': (world, random) => world.userChangesHost({ isPowerOffDisabled: random.chance(0.3) }),
  pause: (world, random) => world.userChangesHost({ isPaused: random.chance(0.3) }),
  detach: (world, random) => world.userChangesHost({ isDetached: random.chance(0.3) }),
  'image a': (world) => wantImage(world, 'http://iso.example/a.iso'),
  'image b': (world) => wantImage(world, 'http://iso.example/b.iso'),
  'image without patience': (world, random) => {
    if (world.image !== null) world.userChangesImage({ immediate: random.chance(0.5) });
  },
  'boot anyway': (world, random) => {
    if (world.image !== null) world.userChangesImage({ bootAnywayAfter: random.chance(0.5) ? 2 : null });
  },
  'no image': (world) => {
    if (world.image !== null) world.userChangesImage(null);
  },
  password: (world, random) => {
    world.digest = random.chance(0.5) ? 'good' : 'bad';
  },
  'front panel': (world, random) => {
    if (!world.ironic.isWorking) world.ironic.pressPowerButton(random.pick(['on', 'off']));
  },
  'guest ejects': (world) => {
    if (world.ironic.power === 'on' && !world.ironic.isWorking) world.ironic.medium = null;
  },
  'a user inserts': (world) => {
    if (world.ironic.medium === null) world.ironic.insertSomebodys();
  },
  'a user changes the medium': (world) => world.ironic.insertSomebodys(),
};

function ejectSomebodys({ ironic }: SimulatedWorld): void {
  if (ironic.medium?.url === null) ironic.medium = null;
}

function request(world: SimulatedWorld, key: string, mode: 'soft' | 'hard'): void {
  const others = world.host?.object.reboots.filter((each) => each.key !== key) ?? [];
  world.userChangesHost({ reboots: [...others, { key, mode, since: 0 }] });
}

function wantImage(world: SimulatedWorld, url: string): void {
  if (world.image?.object.isDeleting !== true) world.userChangesImage({ url });
}

export interface ScenarioOutcome {
  readonly violations: readonly string[];
  readonly story: readonly string[];
  readonly kills: number;
  readonly steps: number;
}

export function runScenario(seed: number, besideOperator: boolean): ScenarioOutcome {
  const scenario = new Scenario(createRandom(seed), besideOperator);
  scenario.run();
  const { violations, story } = scenario.world.ironic;
  return { violations, story, kills: scenario.kills, steps: scenario.steps };
}

/** Each with the seed that repeats it. */
export function runSeeds(seeds: readonly number[], besideOperator: boolean): { violations: string[]; kills: number } {
  let kills = 0;
  const violations = seeds.flatMap((seed) => {
    const outcome = runScenario(seed, besideOperator);
    kills += outcome.kills;
    return outcome.violations.map((each) => `SLIPWAY_SEED=${seed}: ${each}`);
  });
  return { violations, kills };
}

class Scenario {
  kills = 0;
  steps = 0;
  readonly world: SimulatedWorld;
  private readonly shell: SimulatedController;
  private readonly random: Random;
  private readonly besideOperator: boolean;

  constructor(random: Random, besideOperator: boolean) {
    this.random = random;
    this.besideOperator = besideOperator;
    this.world = new SimulatedWorld(random.fork());
    this.shell = new SimulatedController(this.world, { ...simulatedOptions, besideOperator });
  }

  run(): void {
    const { random, world } = this;
    world.ironic.faults = rough;
    for (let round = 0; round < 300; round += 1) {
      if (random.chance(0.2)) this.act();
      // Nothing proceeds while it is there.
      if (random.chance(0.2)) ejectSomebodys(world);
      this.runOnce();
      if (this.besideOperator && random.chance(0.5)) runOperator(world);
      world.ironic.advance(random.int(1, 5000));
    }
    this.calmDown();
  }

  private act(): void {
    const name = this.random.pick(Object.keys(userActions));
    this.world.ironic.tell(`user: ${name}`);
    userActions[name]?.(this.world, this.random);
  }

  /** One reconcile, with a disturbance possible at every point. */
  private runOnce(): void {
    const { random, world } = this;
    const run = this.shell.reconcile(random.chance(0.2));
    this.steps += 1;
    for (let at = run.next(); at.done !== true; at = run.next()) {
      if (random.chance(0.2)) {
        this.kills += 1;
        world.ironic.tell(`killed ${at.value}`);
        return;
      }
      // A response arrives within the timeout: after it, the caller has given up.
      if (random.chance(0.2)) world.ironic.advance(random.int(1, 2000));
      if (random.chance(0.05)) world.ironic.insertSomebodys();
    }
  }

  /** Ends all faults and restrictions, and reboots once: then the state must match the last request. */
  private calmDown(): void {
    const { world, random } = this;
    const { ironic } = world;
    ironic.tell('calm');
    ironic.faults = noFaults;
    world.digest = 'good';
    ejectSomebodys(world);
    if (world.image !== null) world.userChangesImage({ bootAnywayAfter: null });
    const reboots = world.host?.object.reboots.filter(({ key }) => key === 'slipway') ?? [];
    const isLeaving = !this.besideOperator && random.chance(0.3);
    const online = isLeaving || random.chance(0.7);
    world.userChangesHost({ isPaused: false, isDetached: false, isPowerOffDisabled: false, reboots, online });
    this.settle();
    if (isLeaving) world.userChangesHost({ isDeleting: true, deletingSince: ironic.now });
    else request(world, '', 'hard');
    this.settle();
    if (isLeaving) return expectGone(world);
    expectPower(world);
    // A medium that a user ejected is missed before the next boot, not sooner.
    world.userChangesHost({ online: true });
    this.settle();
    expectPower(world);
    expectAsWanted(world, this.besideOperator);
  }

  private settle(): void {
    for (let round = 0, quiet = 0; quiet < 3; round += 1) {
      if (round === 2000) return this.world.ironic.violate('no end');
      const before = this.versions();
      if (this.besideOperator) runOperator(this.world);
      const wait = this.reconcileWhole();
      const isQuiet = wait === null && !this.world.ironic.isWorking && before === this.versions();
      quiet = isQuiet ? quiet + 1 : 0;
      this.world.ironic.advance(wait ?? 1000);
    }
  }

  private versions(): string {
    return `${this.world.host?.version} ${this.world.image?.version}`;
  }

  /** Until when it waits; null: until something changes. */
  private reconcileWhole(): number | null {
    this.steps += 1;
    const run = this.shell.reconcile(false);
    for (;;) {
      const at = run.next();
      if (at.done === true) return at.value.type === 'wait' ? at.value.ms : 1;
    }
  }
}

function expectGone({ ironic, host, image }: SimulatedWorld): void {
  if (host !== null || ironic.hasNode) ironic.violate('the host is not gone');
  if (image?.object.hasOwner === true) ironic.violate('the DataImage of a host that is gone has stayed');
  if (ironic.medium !== null) ironic.violate(`the host is gone, and ${ironic.medium.image} is in its drive`);
}

function expectPower({ ironic, host }: SimulatedWorld): void {
  const wanted = host?.object.online === true ? 'on' : 'off';
  if (ironic.power !== wanted) ironic.violate(`the host is ${ironic.power}, desired is ${wanted}`);
}

function expectAsWanted(world: SimulatedWorld, besideOperator: boolean): void {
  const { ironic, host, image } = world;
  if (host !== null && host.object.reboots.length > 0) ironic.violate('a reboot request has stayed');
  if (host !== null) expectNoFailures(world, host.object.memory, besideOperator);
  if (image?.object.memory?.isAttached === false) ironic.violate('it is not reported as attached');
  expectDrive(world);
}

function expectNoFailures({ ironic }: SimulatedWorld, memory: HostMemory | null, besideOperator: boolean): void {
  if (memory === null) return;
  if (memory.failures > 0) ironic.violate('failures of the host are still counted');
  if (besideOperator) ironic.violate('a host of another operator was asked for something');
}

function expectDrive({ ironic, image }: SimulatedWorld): void {
  const found = ironic.medium?.url ?? 'nothing';
  const wanted = image?.object.url ?? 'nothing';
  if (found !== wanted) ironic.violate(`the drive contains ${found}, desired is ${wanted}`);
}
