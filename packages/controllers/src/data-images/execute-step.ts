// Executes the one step that was decided on. State is written first, on the version that the decision is based on: a
// kill at any point leaves either that state, and the next run checks what happened, or nothing.
import { type BareMetalHost, bareMetalHosts, type DataImage, dataImages, DRIVE_MEMORY_ANNOTATION } from '@slipway/api';
import { formatProblem } from '@slipway/fleet';
import {
  afterCall,
  type CallOutcome,
  type DriveMemory,
  type DriverInfo,
  encodeDriveMemory,
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
  emptyHostMemory,
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

export async function executeStep(step: HostStep, stepContext: StepContext): Promise<void> {
  if (step.type === 'wait' || step.type === 'look') return;
  if (isCall(step)) return executeCall(step, stepContext);
  await write(step, stepContext);
}

const isCall = (step: Call | Write): step is Call =>
  'remember' in step || step.type === 'register' || step.type === 'delete node';

function write(step: Write, stepContext: StepContext): Promise<unknown> {
  switch (step.type) {
    case 'remember host':
      return rememberHost(step.memory, stepContext);
    case 'remember drive':
      return rememberDrive(step.memory, stepContext);
    case 'claim image':
      return claimImage(requireImage(stepContext), stepContext.host, stepContext.context);
    case 'release image':
      return releaseImage(requireImage(stepContext), stepContext.context);
    default:
      return changeHost(step, stepContext);
  }
}

const rememberHost = (memory: HostMemory, { host, context }: StepContext): Promise<Stored<BareMetalHost>> =>
  context.write.patch(bareMetalHosts, host, annotated(HOST_MEMORY_ANNOTATION, encodeMemory(memory)));

function rememberDrive(memory: DriveMemory, stepContext: StepContext): Promise<Stored<DataImage>> {
  const image = requireImage(stepContext);
  const value = encodeDriveMemory(memory, image.metadata.uid);
  return stepContext.context.write.patch(dataImages, image, annotated(DRIVE_MEMORY_ANNOTATION, value));
}

const annotated = (name: string, value: string | null) => ({ metadata: { annotations: { [name]: value } } });

function requireImage({ image }: StepContext): Stored<DataImage> {
  if (image === undefined) throw new Error('a step for a DataImage that does not exist');
  return image;
}

function changeHost(
  step: Exclude<Write, { type: 'remember host' | 'remember drive' | 'claim image' | 'release image' }>,
  { host, facts, context }: StepContext,
): Promise<unknown> {
  const finalizers = host.metadata.finalizers ?? [];
  const bodies = {
    // With our state, which marks the host as ours.
    'add host finalizer': () => ({
      metadata: {
        finalizers: [...finalizers, HOST_FINALIZER],
        annotations: { [HOST_MEMORY_ANNOTATION]: encodeMemory(facts.host.memory ?? emptyHostMemory) },
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

const otherFinalizers = ({ metadata: { finalizers = [] } }: Stored<DataImage>): string[] =>
  finalizers.filter((each) => each !== IMAGE_FINALIZER);

export function claimImage(
  image: Stored<DataImage>,
  host: Stored<BareMetalHost>,
  { write }: Context,
): Promise<Stored<DataImage>> {
  const owner = ownedBy(host);
  const others = (image.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.uid);
  const finalizers = [...otherFinalizers(image), IMAGE_FINALIZER];
  return write.patch(dataImages, image, { metadata: { finalizers, ownerReferences: [...others, owner] } });
}

export const releaseImage = (image: Stored<DataImage>, { write }: Context): Promise<Stored<DataImage>> =>
  write.patch(dataImages, image, { metadata: { finalizers: otherFinalizers(image) } });

async function executeCall(step: Call, stepContext: StepContext): Promise<void> {
  const remembered = await rememberFirst(step, stepContext);
  const outcome = await call(step, stepContext);
  stepContext.metrics?.called(step.type, outcome.type);
  const { context, facts, options } = stepContext;
  const circumstances = { now: context.now().getTime(), options, hostMemory: facts.host.memory };
  const after = afterCall(step, outcome, circumstances);
  if (after !== null) await rememberAfter(after, remembered, stepContext);
}

type HostObjects = Pick<StepContext, 'host' | 'image'>;

async function rememberFirst(step: Call, stepContext: StepContext): Promise<HostObjects> {
  const { host, image } = stepContext;
  if (!('remember' in step)) return { host, image };
  return step.type === 'attach' || step.type === 'detach'
    ? { host, image: await rememberDrive(step.remember, stepContext) }
    : { host: await rememberHost(step.remember, stepContext), image };
}

/** Users may update the object meanwhile; Ironic's response is stored anyway. */
async function rememberAfter(
  after: NonNullable<ReturnType<typeof afterCall>>,
  { host, image }: HostObjects,
  { context }: StepContext,
): Promise<void> {
  if ('host' in after) {
    await replaceAnnotation(bareMetalHosts, host, HOST_MEMORY_ANNOTATION, encodeMemory(after.host), context);
  } else if (image !== undefined) {
    const value = encodeDriveMemory(after.drive, image.metadata.uid);
    await replaceAnnotation(dataImages, image, DRIVE_MEMORY_ANNOTATION, value, context);
  }
}

/** How many conflicts with other writers to retry. */
const MAX_TRIES = 10;

/** Replaces the value that we wrote before, whatever else changed. Does nothing if that value is gone. */
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

async function call(step: Call, stepContext: StepContext): Promise<CallOutcome> {
  const { context } = stepContext;
  context.signal.throwIfAborted();
  try {
    await send(step, stepContext);
    return { type: 'accepted' };
  } catch (error) {
    context.signal.throwIfAborted();
    if (!isIronicError(error)) throw error;
    const message = formatProblem(error);
    context.log.warn({ step: step.type, code: error.code }, message);
    return error.isRefusal ? { type: 'refused', message } : { type: 'unsure' };
  }
}

function send(step: Call, stepContext: StepContext): Promise<void> {
  const { ironic, host, context } = stepContext;
  if (step.type !== 'register') return sendTo(requireUuid(stepContext), step, stepContext);
  const name = formatNodeName(host.metadata.namespace ?? '', host.metadata.name);
  return ironic.register({ name, ...buildDesiredNode(stepContext) }, context.signal);
}

function sendTo(uuid: string, step: Exclude<Call, { type: 'register' }>, stepContext: StepContext): Promise<void> {
  const { ironic, options } = stepContext;
  const { signal } = stepContext.context;
  switch (step.type) {
    case 'update node':
      return ironic.update(uuid, buildDesiredNode(stepContext), signal);
    case 'provision':
      return ironic.provision(uuid, step.target, signal);
    case 'power':
      // Without a limit, Ironic waits ten minutes for the operating system, with the node locked.
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
  if (facts.node === null) throw new Error('a step for a node that Ironic does not have');
  return facts.node.uuid;
}

function buildDesiredNode({ facts, driverInfo, host }: StepContext): Omit<DesiredNode, 'name'> {
  const { bmc } = facts.host;
  if (!bmc.ok || driverInfo === null) throw new Error('a step for a BMC whose settings cannot be read');
  return { driver: bmc.driver, driverInfo: { ...driverInfo }, hostUid: host.metadata.uid, digest: bmc.digest };
}
