// Carries out the one step that was decided on. What must be remembered is written first, on the version that the decision
// was made on; a kill at any place leaves either that, and we look, or nothing.
import { type BareMetalHost, bareMetalHosts, type DataImage, dataImages, DRIVE_MEMORY_ANNOTATION } from '@slipway/api';
import { formatProblem } from '@slipway/fleet';
import {
  afterCall,
  type CallOutcome,
  type DriveMemory,
  type DriverInfo,
  encodeMemory,
  holdValue,
  type HostFacts,
  HOST_FINALIZER,
  type HostMemory,
  HOST_MEMORY_ANNOTATION,
  type HostStep,
  IMAGE_FINALIZER,
  type Ironic,
  formatNodeName,
  nothingAsked,
  ownedBy,
  OWN_REBOOT_KEY,
  REBOOT_ANNOTATION,
  type StepOptions,
  type DesiredNode,
} from '@slipway/fleet/hosts';
import { type Context, type Resource, retryOnConflict, type Stored } from '@slipway/kube';
import { isIronicError } from './ironic/ironic-error.ts';
import type { HostMetrics } from './report.ts';

export interface StepContext {
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

export async function carryOut(step: HostStep, scene: StepContext): Promise<void> {
  if (step.type === 'wait' || step.type === 'look') return;
  if (isCall(step)) return callFor(step, scene);
  await write(step, scene);
}

const isCall = (step: Call | Write): step is Call =>
  'remember' in step || step.type === 'register' || step.type === 'delete node';

function write(step: Write, scene: StepContext): Promise<unknown> {
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

const rememberHost = (memory: HostMemory, { host, context }: StepContext): Promise<Stored<BareMetalHost>> =>
  context.write.patch(bareMetalHosts, host, annotated(HOST_MEMORY_ANNOTATION, encodeMemory(memory)));

const rememberDrive = (memory: DriveMemory, scene: StepContext): Promise<Stored<DataImage>> =>
  scene.context.write.patch(dataImages, requireImage(scene), annotated(DRIVE_MEMORY_ANNOTATION, encodeMemory(memory)));

const annotated = (name: string, value: string | null) => ({ metadata: { annotations: { [name]: value } } });

function requireImage({ image }: StepContext): Stored<DataImage> {
  if (image === undefined) throw new Error('a step about a DataImage that is not there');
  return image;
}

function changeHost(
  step: Exclude<Write, { type: 'remember host' | 'remember drive' | 'claim image' | 'release image' }>,
  { host, facts, context }: StepContext,
): Promise<unknown> {
  const finalizers = host.metadata.finalizers ?? [];
  const bodies = {
    // With a memory, by which it is known to be ours.
    'add host finalizer': () => ({
      metadata: {
        finalizers: [...finalizers, HOST_FINALIZER],
        annotations: { [HOST_MEMORY_ANNOTATION]: encodeMemory(facts.host.memory ?? nothingAsked) },
      },
    }),
    'remove host finalizer': () => ({
      metadata: {
        finalizers: finalizers.filter((each) => each !== HOST_FINALIZER),
        annotations: { [HOST_MEMORY_ANNOTATION]: null },
      },
    }),
    'clear reboot': () => annotated(REBOOT_ANNOTATION, null),
    'hold off': () => annotated(ownRebootAnnotation, holdValue(facts.now)),
    'release hold': () => annotated(ownRebootAnnotation, null),
  };
  return context.write.patch(bareMetalHosts, host, bodies[step.type]());
}

const ownRebootAnnotation = `${REBOOT_ANNOTATION}/${OWN_REBOOT_KEY}`;

async function changeImage(what: 'claim image' | 'release image', scene: StepContext): Promise<void> {
  const image = requireImage(scene);
  const { finalizers = [], ownerReferences = [] } = image.metadata;
  const others = finalizers.filter((each) => each !== IMAGE_FINALIZER);
  const owner = ownedBy(scene.host);
  const metadata =
    what === 'release image'
      ? { finalizers: others }
      : {
          finalizers: [...others, IMAGE_FINALIZER],
          ownerReferences: [...ownerReferences.filter(({ uid }) => uid !== owner.uid), owner],
        };
  await scene.context.write.patch(dataImages, image, { metadata });
}

async function callFor(step: Call, scene: StepContext): Promise<void> {
  const remembered = await rememberFirst(step, scene);
  const outcome = await call(step, scene);
  scene.metrics?.called(step.type, outcome.type);
  const { context, facts, options } = scene;
  const circumstances = { now: context.now().getTime(), options, hostMemory: facts.host.memory };
  const after = afterCall(step, outcome, circumstances);
  if (after !== null) await rememberAfter(after, remembered, scene);
}

type HostObjects = Pick<StepContext, 'host' | 'image'>;

async function rememberFirst(step: Call, scene: StepContext): Promise<HostObjects> {
  const { host, image } = scene;
  if (!('remember' in step)) return { host, image };
  return step.type === 'attach' || step.type === 'detach'
    ? { host, image: await rememberDrive(step.remember, scene) }
    : { host: await rememberHost(step.remember, scene), image };
}

/** Users may write to the object meanwhile, and Ironic's answer counts all the same. */
async function rememberAfter(
  after: NonNullable<ReturnType<typeof afterCall>>,
  { host, image }: HostObjects,
  { context }: StepContext,
): Promise<void> {
  if ('host' in after) {
    await replaceAnnotation(bareMetalHosts, host, HOST_MEMORY_ANNOTATION, encodeMemory(after.host), context);
  } else if (image !== undefined) {
    await replaceAnnotation(dataImages, image, DRIVE_MEMORY_ANNOTATION, encodeMemory(after.drive), context);
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

async function call(step: Call, scene: StepContext): Promise<CallOutcome> {
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

function send(step: Call, scene: StepContext): Promise<void> {
  const { ironic, host, context } = scene;
  if (step.type !== 'register') return sendTo(requireUuid(scene), step, scene);
  const name = formatNodeName(host.metadata.namespace ?? '', host.metadata.name);
  return ironic.register({ name, ...wantedNode(scene) }, context.signal);
}

function sendTo(uuid: string, step: Exclude<Call, { type: 'register' }>, scene: StepContext): Promise<void> {
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

function requireUuid({ facts }: StepContext): string {
  if (facts.node === null) throw new Error('a step about a node that is not there');
  return facts.node.uuid;
}

function wantedNode({ facts, driverInfo, host }: StepContext): Omit<DesiredNode, 'name'> {
  const { bmc } = facts.host;
  if (!bmc.ok || driverInfo === null) throw new Error('a step about a BMC that cannot be read');
  return { driver: bmc.driver, driverInfo: { ...driverInfo }, hostUid: host.metadata.uid, digest: bmc.digest };
}
