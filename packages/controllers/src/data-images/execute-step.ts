// Carries out the one step that was decided on. What must be remembered is written first, on the version that the decision
// was made on; a kill at any place leaves either that, and we look, or nothing.
import { type BareMetalHost, bareMetalHosts, type DataImage, dataImages, driveMemoryAnnotation } from '@slipway/api';
import { formatProblem } from '@slipway/fleet';
import {
  afterCall,
  type CallOutcome,
  type DriveMemory,
  type DriverInfo,
  encodeMemory,
  holdValue,
  type HostFacts,
  hostFinalizer,
  type HostMemory,
  hostMemoryAnnotation,
  type HostStep,
  imageFinalizer,
  type Ironic,
  nodeNameOf,
  nothingAsked,
  ownedBy,
  ownRebootKey,
  rebootAnnotation,
  type StepOptions,
  type WantedNode,
} from '@slipway/fleet/hosts';
import { type Context, type Resource, retryOnConflict, type Stored } from '@slipway/kube';
import { isIronicError } from './ironic/ironic-error.ts';
import type { HostMetrics } from './report.ts';

export interface Scene {
  readonly host: Stored<BareMetalHost>;
  readonly image: Stored<DataImage> | undefined;
  readonly facts: HostFacts;
  readonly driverInfo: DriverInfo | null;
  readonly options: StepOptions;
  readonly ironic: Ironic;
  readonly metrics: HostMetrics | undefined;
  readonly context: Context;
}

type Call = Extract<HostStep, { remember: unknown } | { type: 'register' | 'delete node' }>;
type Write = Exclude<HostStep, Call | { type: 'wait' | 'look' }>;

export async function carryOut(step: HostStep, scene: Scene): Promise<void> {
  if (step.type === 'wait' || step.type === 'look') return;
  if (isCall(step)) return callFor(step, scene);
  await write(step, scene);
}

const isCall = (step: Call | Write): step is Call =>
  'remember' in step || step.type === 'register' || step.type === 'delete node';

function write(step: Write, scene: Scene): Promise<unknown> {
  switch (step.type) {
    case 'remember host':
      return rememberHost(step.memory, scene);
    case 'remember drive':
      return rememberDrive(step.memory, scene);
    case 'claim image':
    case 'release image':
      return changeImage(step.type, scene);
    default:
      return changeHost(step, scene);
  }
}

const rememberHost = (memory: HostMemory, { host, context }: Scene): Promise<Stored<BareMetalHost>> =>
  context.write.patch(bareMetalHosts, host, annotated(hostMemoryAnnotation, encodeMemory(memory)));

const rememberDrive = (memory: DriveMemory, scene: Scene): Promise<Stored<DataImage>> =>
  scene.context.write.patch(dataImages, imageOf(scene), annotated(driveMemoryAnnotation, encodeMemory(memory)));

const annotated = (name: string, value: string | null) => ({ metadata: { annotations: { [name]: value } } });

function imageOf({ image }: Scene): Stored<DataImage> {
  if (image === undefined) throw new Error('a step about a DataImage that is not there');
  return image;
}

function changeHost(
  step: Exclude<Write, { type: 'remember host' | 'remember drive' | 'claim image' | 'release image' }>,
  { host, facts, context }: Scene,
): Promise<unknown> {
  const finalizers = host.metadata.finalizers ?? [];
  const bodies = {
    // With a memory, by which it is known to be ours.
    'add host finalizer': () => ({
      metadata: {
        finalizers: [...finalizers, hostFinalizer],
        annotations: { [hostMemoryAnnotation]: encodeMemory(facts.host.memory ?? nothingAsked) },
      },
    }),
    'remove host finalizer': () => ({
      metadata: {
        finalizers: finalizers.filter((each) => each !== hostFinalizer),
        annotations: { [hostMemoryAnnotation]: null },
      },
    }),
    'clear reboot': () => annotated(rebootAnnotation, null),
    'hold off': () => annotated(ownRebootAnnotation, holdValue(facts.now)),
    'release hold': () => annotated(ownRebootAnnotation, null),
  };
  return context.write.patch(bareMetalHosts, host, bodies[step.type]());
}

const ownRebootAnnotation = `${rebootAnnotation}/${ownRebootKey}`;

async function changeImage(what: 'claim image' | 'release image', scene: Scene): Promise<void> {
  const image = imageOf(scene);
  const { finalizers = [], ownerReferences = [] } = image.metadata;
  const others = finalizers.filter((each) => each !== imageFinalizer);
  const owner = ownedBy(scene.host);
  const metadata =
    what === 'release image'
      ? { finalizers: others }
      : {
          finalizers: [...others, imageFinalizer],
          ownerReferences: [...ownerReferences.filter(({ uid }) => uid !== owner.uid), owner],
        };
  await scene.context.write.patch(dataImages, image, { metadata });
}

async function callFor(step: Call, scene: Scene): Promise<void> {
  const remembered = await rememberFirst(step, scene);
  const outcome = await call(step, scene);
  scene.metrics?.called(step.type, outcome.type);
  const { context, facts, options } = scene;
  const circumstances = { now: context.now().getTime(), options, hostMemory: facts.host.memory };
  const after = afterCall(step, outcome, circumstances);
  if (after !== null) await rememberAfter(after, remembered, scene);
}

type Remembered = Pick<Scene, 'host' | 'image'>;

async function rememberFirst(step: Call, scene: Scene): Promise<Remembered> {
  const { host, image } = scene;
  if (!('remember' in step)) return { host, image };
  return step.type === 'attach' || step.type === 'detach'
    ? { host, image: await rememberDrive(step.remember, scene) }
    : { host: await rememberHost(step.remember, scene), image };
}

/** Users may write to the object meanwhile, and Ironic's answer counts all the same. */
async function rememberAfter(
  after: NonNullable<ReturnType<typeof afterCall>>,
  { host, image }: Remembered,
  { context }: Scene,
): Promise<void> {
  if ('host' in after) {
    await replaceAnnotation(bareMetalHosts, host, hostMemoryAnnotation, encodeMemory(after.host), context);
  } else if (image !== undefined) {
    await replaceAnnotation(dataImages, image, driveMemoryAnnotation, encodeMemory(after.drive), context);
  }
}

/** How often somebody else may be faster. */
const MAX_TRIES = 10;

/** Replaces what we have written there before, whatever has become of the rest. Fine where it is not there any more. */
async function replaceAnnotation<T extends BareMetalHost | DataImage>(
  resource: Resource<T>,
  object: Stored<T>,
  name: string,
  value: string,
  { client, write }: Context,
): Promise<void> {
  const before = object.metadata.annotations?.[name];
  let known: Stored<T> | undefined = object;
  await retryOnConflict(async () => {
    const current = known ?? (await client.find(resource, object.metadata));
    known = undefined;
    if (current === undefined || current.metadata.annotations?.[name] !== before) return;
    await write.patch(resource, current, annotated(name, value));
  }, MAX_TRIES);
}

async function call(step: Call, scene: Scene): Promise<CallOutcome> {
  const { context } = scene;
  context.signal.throwIfAborted();
  try {
    await send(step, scene);
    return { type: 'accepted' };
  } catch (error) {
    context.signal.throwIfAborted();
    if (!isIronicError(error)) throw error;
    const message = formatProblem(error);
    context.log.warn({ step: step.type, code: error.code }, message);
    return error.isRefusal ? { type: 'refused', message } : { type: 'unsure' };
  }
}

function send(step: Call, scene: Scene): Promise<void> {
  const { ironic, host, context } = scene;
  if (step.type !== 'register') return sendTo(uuidOf(scene), step, scene);
  const name = nodeNameOf(host.metadata.namespace ?? '', host.metadata.name);
  return ironic.register({ name, ...wantedNode(scene) }, context.signal);
}

function sendTo(uuid: string, step: Exclude<Call, { type: 'register' }>, scene: Scene): Promise<void> {
  const { ironic, options } = scene;
  const { signal } = scene.context;
  switch (step.type) {
    case 'update node':
      return ironic.update(uuid, wantedNode(scene), signal);
    case 'provision':
      return ironic.provision(uuid, step.target, signal);
    case 'power':
      // Else Ironic gives an operating system ten minutes, with the node locked.
      return ironic.power(
        uuid,
        step.target,
        step.target === 'soft power off' ? { withinMs: options.softOffMs, signal } : { signal },
      );
    case 'set maintenance':
      return ironic.setMaintenance(uuid, step.maintenance, signal);
    case 'delete node':
      return ironic.remove(uuid, signal);
    case 'attach':
      return ironic.attach(uuid, step.url, signal);
    case 'detach':
      return ironic.detach(uuid, signal);
  }
}

function uuidOf({ facts }: Scene): string {
  if (facts.node === null) throw new Error('a step about a node that is not there');
  return facts.node.uuid;
}

function wantedNode({ facts, driverInfo, host }: Scene): Omit<WantedNode, 'name'> {
  const { bmc } = facts.host;
  if (!bmc.ok || driverInfo === null) throw new Error('a step about a BMC that cannot be read');
  return { driver: bmc.driver, driverInfo: { ...driverInfo }, hostUid: host.metadata.uid, digest: bmc.digest };
}
