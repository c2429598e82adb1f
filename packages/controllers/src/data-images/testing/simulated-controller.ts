// A simulation of the controller: executes steps on a simulated world, one write or call at a time, and can be killed
// between any two. Checks the invariants of single steps.
import {
  afterCall,
  dataImageStatus,
  type DriveMemory,
  type HostFacts,
  type HostMemory,
  type ObservedHost,
  type HostStep,
  isOwn,
  isPlain,
  nextHostStep,
  OWN_REBOOT_KEY,
  type StepOptions,
  stepWithoutHost,
} from '@slipway/fleet/hosts';
import type { CallResult, SimulatedIronic } from './simulated-ironic.ts';
import type { WorldSnapshot, SimulatedWorld, Stored } from './simulated-world.ts';

type SeenHost = WorldSnapshot & { readonly host: Stored<ObservedHost> };
type Write = Extract<
  HostStep['type'],
  | 'add host finalizer'
  | 'remove host finalizer'
  | 'clear reboot'
  | 'hold off'
  | 'release hold'
  | 'claim image'
  | 'release image'
>;

type Call = Extract<HostStep, { remember: unknown } | { type: 'register' | 'delete node' }>;

export class SimulatedController {
  private readonly world: SimulatedWorld;
  private readonly options: StepOptions;

  constructor(world: SimulatedWorld, options: StepOptions) {
    this.world = world;
    this.options = options;
  }

  /** Reads facts, and decides and executes one step. Each `yield` is a kill point. */
  *reconcile(isStale: boolean): Generator<string, HostStep> {
    const { ironic } = this.world;
    const { host, image } = this.world.read(isStale);
    if (host === null) {
      const step = image === null ? rest : stepWithoutHost(image.object);
      if (step.type === 'release image') this.world.writeImage(image, { hasFinalizer: false });
      return step;
    }
    const step = this.choose(host.object, image?.object ?? null);
    if (step.type !== 'wait') ironic.tell(`step ${JSON.stringify(step)}`);
    yield* this.carryOut(step, { host, image });
    return step;
  }

  private choose(host: ObservedHost, dataImage: HostFacts['dataImage']): HostStep {
    const { ironic, digest } = this.world;
    const facts: HostFacts = {
      host: { ...host, bmc: { ok: true, driver: 'redfish', digest, nonBootableISOImage: true } },
      node: ironic.readNode(),
      drive: null,
      driveProblem: null,
      dataImage,
      now: ironic.now,
    };
    const first = nextHostStep(facts, this.options);
    if (first.type !== 'look') return first;
    const { drive, problem } = ironic.readDrive();
    const seen = { ...facts, drive, driveProblem: problem };
    const second = nextHostStep(seen, this.options);
    if (second.type === 'look') ironic.violate('a look that is followed by a look');
    this.checkStatus(seen, second);
    return second;
  }

  /** Invariant: Attached is not reported for a drive that was just seen with another medium. */
  private checkStatus(facts: HostFacts, step: HostStep): void {
    const { dataImage, drive } = facts;
    if (dataImage === null || drive === null) return;
    const { attachedImage, attached } = dataImageStatus(facts, dataImage, step, this.options);
    if (attached.status !== 'True' && attachedImage === undefined) return;
    const { ironic } = this.world;
    if (ironic.medium?.url !== dataImage.memory?.url)
      ironic.violate('attached is reported with another medium in the drive');
  }

  private *carryOut(step: HostStep, seen: SeenHost): Generator<string, void> {
    if (step.type === 'wait' || step.type === 'look') return;
    if (step.type === 'remember drive') return this.rememberDrive(seen, step.memory);
    if (step.type === 'remember host') return void this.world.writeHost(seen.host, { memory: step.memory });
    if (step.type === 'register' || step.type === 'delete node') return yield* this.callFor(step, seen);
    if (!('remember' in step)) return void this.writes[step.type](seen);
    if (this.rememberFirst(step, seen)) yield* this.callFor(step, seen);
  }

  /** False: the facts were stale. */
  private rememberFirst(step: Extract<HostStep, { remember: unknown }>, { host, image }: SeenHost): boolean {
    if (step.type === 'attach' || step.type === 'detach')
      return this.world.writeImage(image, { memory: step.remember });
    this.checkPowerRequest(step, host);
    return this.world.writeHost(host, { memory: step.remember });
  }

  private readonly writes: Readonly<Record<Write, (seen: SeenHost) => unknown>> = {
    'add host finalizer': ({ host }) => this.world.writeHost(host, { hasFinalizer: true }),
    'remove host finalizer': ({ host }) => this.world.writeHost(host, { hasFinalizer: false }),
    'clear reboot': ({ host }) =>
      this.world.writeHost(host, { reboots: host.object.reboots.filter((each) => !isPlain(each)) }),
    'hold off': ({ host }) => this.holdOff(host),
    'release hold': ({ host }) =>
      this.world.writeHost(host, { reboots: host.object.reboots.filter((each) => !isOwn(each)) }),
    'claim image': ({ image }) => this.world.writeImage(image, { hasFinalizer: true, hasOwner: true }),
    'release image': ({ image }) => this.world.writeImage(image, { hasFinalizer: false }),
  };

  private *callFor(step: Call, { host }: SeenHost): Generator<string, void> {
    yield `before ${step.type}`;
    const answer = this.call(step);
    yield `after ${step.type}`;
    const { world, options } = this;
    const outcome = answer === 'refused' ? { type: answer, message: 'Ironic refuses' } : { type: answer };
    const hostMemory: HostMemory | null = host.object.memory;
    const after = afterCall(step, outcome, { now: world.ironic.now, options, hostMemory });
    if (after === null) return;
    if ('drive' in after) this.rememberDrive(world, after.drive);
    else world.writeHost(world.host, { memory: after.host });
  }

  private call(step: Call): CallResult {
    const { ironic, digest, image, host } = this.world;
    ironic.mayChangeWhileOn = image?.object.immediate === true || host?.object.isDeleting === true;
    if (step.type === 'register') return ironic.register(digest);
    if (step.type === 'update node') return ironic.update(digest);
    if (step.type === 'delete node') return ironic.delete();
    return callWithTarget(ironic, step);
  }

  /** Invariant: Attached is never reported before it is true. */
  private rememberDrive({ image }: Pick<WorldSnapshot, 'image'>, memory: DriveMemory): void {
    const { world } = this;
    if (!world.writeImage(image, { memory })) return;
    if (!memory.isAttached) return;
    if (world.ironic.medium?.url !== memory.url) world.ironic.violate('attached is reported before it is true');
    if (world.ironic.hasError) world.ironic.violate('attached is reported before Ironic is done, or despite its error');
  }

  /** Invariant: no host is rebooted without a request. */
  private checkPowerRequest(step: HostStep, read: Stored<ObservedHost>): void {
    const { host, ironic } = this.world;
    if (step.type !== 'power' || host?.version !== read.version) return;
    const { online, reboots, isPowerOffDisabled } = host.object;
    if (isPowerOffDisabled && step.target !== 'power on') ironic.violate(`${step.target} that spec forbids`);
    const isWantedOn = online && reboots.length === 0;
    if (isWantedOn !== (step.target === 'power on')) ironic.violate(`${step.target} without a request`);
  }

  /** The same invariant alongside another operator: our annotation makes it power the host off. */
  private holdOff(read: Stored<ObservedHost>): void {
    const { world } = this;
    const { reboots } = read.object;
    if (
      !world.writeHost(read, { reboots: [...reboots, { key: OWN_REBOOT_KEY, mode: 'soft', since: world.ironic.now }] })
    )
      return;
    if (reboots.length === 0 && world.ironic.isKnownOn)
      world.ironic.violate('held off, and so rebooted, without a request');
  }
}

const rest: HostStep = { type: 'wait', why: 'at rest', ms: null };

function callWithTarget(
  ironic: SimulatedIronic,
  step: Exclude<Call, { type: 'register' | 'update node' | 'delete node' }>,
): CallResult {
  switch (step.type) {
    case 'provision':
      return ironic.provision(step.target);
    case 'power':
      return ironic.setPower(step.target);
    case 'set maintenance':
      return ironic.setMaintenance(step.maintenance);
    case 'attach':
      return ironic.attach(step.url);
    case 'detach':
      return ironic.detach();
  }
}
