// Bare-metal hosts and the ISOs in their drives. A host and its DataImage have the same name and one controller, so
// that no other code powers the machine on while its drive changes. Each run reads, decides on one step, and executes
// it.
import { type BareMetalHost, bareMetalHosts, type DataImage, dataImages, type Secret, secrets } from '@slipway/api';
import { formatProblem } from '@slipway/fleet';
import {
  observeBmc,
  observeBmcAlongside,
  observeDataImage,
  dataImageStatus,
  type Drive,
  type HostFacts,
  observeHost,
  hostStatus,
  type HostStep,
  type Ironic,
  isFreshlyAdopted,
  isOfEarlierHost,
  type KnownNode,
  computeMedium,
  mustClaim,
  nextHostStep,
  formatNodeName,
  observeNode,
  PAUSED_ANNOTATION,
  type ReadBmc,
  statusOutOfReach,
  statusWithoutHost,
  type StepOptions,
  stepWithoutHost,
  DEFAULT_STEP_OPTIONS,
} from '@slipway/fleet/hosts';
import type { HostPolicy } from '@slipway/ignition';
import {
  again,
  type Context,
  type ControllerDef,
  done,
  dropManagedFields,
  type Key,
  type Metrics,
  parseKey,
  type Next,
  type Source,
  type Stored,
} from '@slipway/kube';
import { claimImage, executeStep, releaseImage, type StepContext } from './execute-step.ts';
import { whyIsoRefused } from './iso-address.ts';
import { isIronicError } from './ironic/ironic-error.ts';
import { createHostMetrics, type HostMetrics, recordStepEvents, warning } from './report.ts';
import { createDroppedFields, type DroppedFields, writeHostStatus, writeImageStatus } from './write-status.ts';

export interface DataImagesOptions {
  /** Creates the client of Ironic: called when there is work, and again after the previous client was closed. */
  readonly ironic: () => Ironic;
  /** Another operator registers the hosts and controls their power; Slipway manages only their drives. */
  readonly besideOperator?: boolean | undefined;
  readonly metrics?: Pick<Metrics, 'registry'> | undefined;
  /** Where ISOs may be, besides the addresses that are allowed by default. */
  readonly hosts?: HostPolicy | undefined;
  /** Shorter in tests. */
  readonly times?: Partial<Times> | undefined;
}

export interface Times extends Pick<StepOptions, 'pollMs' | 'settleMs' | 'softOffMs' | 'minuteMs' | 'lastEjectMs'> {
  /** When to check an idle host again: a user may have pressed its power button, or Ironic may have lost the node. */
  readonly restMs: number;
  /** When to retry an Ironic that does not respond. */
  readonly ironicMs: number;
}

const DEFAULT_REST_TIMES: Pick<Times, 'restMs' | 'ironicMs'> = { restMs: 60_000, ironicMs: 15_000 };

/** A run waits for Ironic, and Ironic for a BMC. */
const WORKERS = 16;
/** Enough to read a drive twice through a slow BMC, and for one more call. */
const TIME_LIMIT_MS = 10 * 60_000;
const CREDENTIALS = 'credentials';

export function dataImagesController(options: DataImagesOptions): ControllerDef {
  const { besideOperator = false, hosts = {} } = options;
  const times: Times = { ...DEFAULT_STEP_OPTIONS, ...DEFAULT_REST_TIMES, ...options.times };
  const metrics = options.metrics === undefined ? undefined : createHostMetrics(options.metrics);
  const dropped = createDroppedFields();
  let ironic: Ironic | undefined;
  return {
    name: 'data-images',
    reads: [hostSource, { resource: dataImages }, ...(besideOperator ? [] : [credentialsSource])],
    owns: [bareMetalHosts, dataImages].flatMap((resource) => [{ resource }, { resource, subresource: 'status' }]),
    workers: WORKERS,
    timeLimitMs: TIME_LIMIT_MS,
    listen: () => () => {
      void ironic?.close().catch(() => {});
      ironic = undefined;
      metrics?.reset();
      dropped.clear();
    },
    async reconcile(key, context) {
      ironic ??= options.ironic();
      return reconcile(key, { ironic, dropped, metrics, times, besideOperator, hosts, context });
    },
  };
}

/** Drops the results of inspection: they are most of the object, and no decision reads them. */
const hostSource: Source<BareMetalHost> = {
  resource: bareMetalHosts,
  project(received) {
    if (received.status !== undefined) delete received.status.hardware;
    return dropManagedFields(received);
  },
  indexes: {
    [CREDENTIALS]: ({ metadata, spec }) =>
      spec?.bmc === undefined ? [] : [`${metadata.namespace}/${spec.bmc.credentialsName}`],
  },
};

/** A watch of changes only: the content is read on demand and not cached. */
const credentialsSource: Source<Secret> = {
  resource: secrets,
  as: 'metadata',
  keysOf: ({ metadata }, read) =>
    read(bareMetalHosts)
      .byIndex(CREDENTIALS, `${metadata.namespace}/${metadata.name}`)
      .map((host) => `${host.metadata.namespace}/${host.metadata.name}`),
};

interface HostDeps {
  readonly ironic: Ironic;
  readonly dropped: DroppedFields;
  readonly metrics: HostMetrics | undefined;
  readonly times: Times;
  readonly besideOperator: boolean;
  readonly hosts: HostPolicy;
  readonly context: Context;
}

async function reconcile(key: Key, deps: HostDeps): Promise<Next> {
  const { context, metrics, dropped } = deps;
  const [host, image] = await readObjects(key, context);
  if (image === undefined) {
    metrics?.failures(key, 0);
    dropped.forget(key);
  }
  if (host === undefined) return image === undefined ? done() : withoutHost(image, deps);
  const ofHost = image === undefined || isOfEarlierHost(image, host) ? undefined : image;
  if (PAUSED_ANNOTATION in (host.metadata.annotations ?? {})) {
    await reportOutOfReach(host, ofHost, `is paused by its annotation ${PAUSED_ANNOTATION}: ${REMOVE_PAUSE}`, deps);
    return done();
  }
  // Even if Ironic is down: the host may be deleted meanwhile.
  if (ofHost !== undefined && mustClaim(observeDataImage(ofHost, host, context.now().getTime()))) {
    await claimImage(ofHost, host, context);
    return again(deps.times.pollMs);
  }
  try {
    return await takeStep(host, ofHost, deps);
  } catch (error) {
    context.signal.throwIfAborted();
    if (!isIronicError(error)) throw error;
    context.log.warn({ code: error.code }, error.message);
    const message = `Slipway cannot manage this host now: ${formatProblem(error)}`;
    context.events.record(bareMetalHosts, host, warning('IronicFailed', message));
    await reportOutOfReach(host, ofHost, `cannot be managed now, and is retried: ${formatProblem(error)}`, deps);
    return again(deps.times.ironicMs);
  }
}

const REMOVE_PAUSE = 'remove the annotation to let Slipway change the drive';

async function reportOutOfReach(
  { metadata: { namespace = '', name } }: Stored<BareMetalHost>,
  image: Stored<DataImage> | undefined,
  why: string,
  deps: HostDeps,
): Promise<void> {
  if (image === undefined) return;
  // Read again: the run may have written it before Ironic failed.
  const current = await deps.context.client.find(dataImages, image.metadata);
  if (current === undefined) return;
  const seen = observeDataImage(current, undefined, deps.context.now().getTime());
  const status = statusOutOfReach(seen, { namespace, name }, why);
  if (status !== null) await writeImageStatus(current, status, deps);
}

/** Reads live after a write whose result is unknown. */
async function readObjects(
  key: Key,
  { read, client, unsure }: Context,
): Promise<[Stored<BareMetalHost> | undefined, Stored<DataImage> | undefined]> {
  if (!unsure) return [read(bareMetalHosts).get(key), read(dataImages).get(key)];
  const name = parseKey(key);
  return Promise.all([client.find(bareMetalHosts, name), client.find(dataImages, name)]);
}

async function withoutHost(image: Stored<DataImage>, deps: HostDeps): Promise<Next> {
  const { context } = deps;
  const seen = observeDataImage(image, undefined, context.now().getTime());
  if (stepWithoutHost(seen).type === 'release image') {
    await releaseImage(image, context);
    return done();
  }
  const { namespace = '', name } = image.metadata;
  await writeImageStatus(image, statusWithoutHost(seen, { namespace, name }), deps);
  return done();
}

async function takeStep(
  host: Stored<BareMetalHost>,
  image: Stored<DataImage> | undefined,
  deps: HostDeps,
): Promise<Next> {
  const options = stepOptions(deps);
  const { facts, bmc, secret } = await readHostFacts(host, image, deps);
  const { step, facts: decidedOn } = await decide(facts, options, deps);
  // Written before the step: the status must not show the image as pending while the machine already powers on.
  const written = await publishStatus(step, { host, image, facts: decidedOn, secret }, deps);
  if (step.type !== 'wait') {
    recordStepEvents(step, { ...written, hostMemory: facts.host.memory, imageSeen: facts.dataImage }, deps.context);
  }
  const { ironic, metrics, context } = deps;
  const stepContext: StepContext = {
    ...written,
    facts: decidedOn,
    driverInfo: bmc.driverInfo,
    options,
    ironic,
    metrics,
    context,
  };
  await executeStep(step, stepContext);
  return decideRequeue(step, deps.times);
}

const stepOptions = ({ times, besideOperator }: HostDeps): StepOptions => ({
  ...DEFAULT_STEP_OPTIONS,
  ...times,
  besideOperator,
  chance: Math.random(),
});

function decideRequeue(step: HostStep, { pollMs, restMs }: Times): Next {
  if (step.type !== 'wait') return again(pollMs);
  if (step.why === 'paused' || step.why === 'not ours') return done();
  return again(step.ms === null ? restMs : Math.max(1, step.ms));
}

interface HostReading {
  readonly facts: HostFacts;
  readonly bmc: ReadBmc;
  readonly secret: Stored<Secret> | undefined;
}

async function readHostFacts(
  host: Stored<BareMetalHost>,
  image: Stored<DataImage> | undefined,
  { ironic, besideOperator, hosts, context }: HostDeps,
): Promise<HostReading> {
  const { namespace = '', name } = host.metadata;
  const isAsked = besideOperator ? image !== undefined : mayBeOurs(host);
  const node = isAsked ? await ironic.node(formatNodeName(namespace, name), context.signal) : null;
  const secret = besideOperator || !isAsked ? undefined : await findCredentials(host, context);
  const bmc = besideOperator ? { reading: observeBmcAlongside(host), driverInfo: null } : observeBmc(host, secret);
  const refusal = image === undefined || isInDrive(image) ? null : await whyIsoRefused(image.spec?.url ?? '', hosts);
  // Taken after the responses: an earlier time would make them look more recent than they are.
  const now = context.now().getTime();
  const facts: HostFacts = {
    host: observeHost(host, node, bmc.reading, now),
    node: observeNode(node, host),
    drive: null,
    driveProblem: null,
    dataImage: image === undefined ? null : observeDataImage(image, host, now, refusal),
    now,
  };
  return { facts, bmc, secret };
}

/** Nothing is fetched for an ISO that is already attached. */
const isInDrive = ({ spec, status }: Stored<DataImage>): boolean =>
  spec?.url !== undefined && spec.url === status?.attachedImage?.url;

/** Other hosts are not looked up in Ironic: another operator manages them, or none does. */
const mayBeOurs = ({ metadata, spec }: Stored<BareMetalHost>): boolean =>
  spec?.externallyProvisioned === true || metadata.deletionTimestamp !== undefined;

async function findCredentials(
  { metadata, spec }: Stored<BareMetalHost>,
  { client, signal }: Context,
): Promise<Stored<Secret> | undefined> {
  const name = spec?.bmc?.credentialsName ?? '';
  if (name === '') return undefined;
  return client.find(
    secrets,
    { name, ...(metadata.namespace !== undefined && { namespace: metadata.namespace }) },
    { signal },
  );
}

async function decide(
  facts: HostFacts,
  options: StepOptions,
  { ironic, context }: HostDeps,
): Promise<{ readonly step: HostStep; readonly facts: HostFacts }> {
  const readDriveFacts = async ({ uuid }: Pick<KnownNode, 'uuid'>) => ({
    ...facts,
    ...(await readDriveTwice(ironic, uuid, context.signal)),
  });
  const first = mustReadDriveFirst(facts) && facts.node !== null ? await readDriveFacts(facts.node) : facts;
  const step = nextHostStep(first, options);
  if (step.type !== 'look' || facts.node === null) return { step, facts: first };
  const second = await readDriveFacts(facts.node);
  return { step: nextHostStep(second, options), facts: second };
}

const mustReadDriveFirst = (facts: HostFacts): boolean =>
  isFreshlyAdopted(facts) && facts.dataImage !== null && computeMedium(facts.dataImage) === 'attached';

interface WrittenObjects {
  readonly host: Stored<BareMetalHost>;
  readonly image: Stored<DataImage> | undefined;
}

async function publishStatus(
  step: HostStep,
  {
    host,
    image,
    facts,
    secret,
  }: WrittenObjects & { readonly facts: HostFacts; readonly secret: Stored<Secret> | undefined },
  deps: HostDeps,
): Promise<WrittenObjects> {
  const { context, metrics, besideOperator } = deps;
  const isOurs = !besideOperator && !facts.host.isForeign && facts.host.externallyProvisioned;
  const seen = facts.dataImage;
  const ofImage = seen === null ? null : dataImageStatus(facts, seen, step, { besideOperator });
  if (ofImage !== null) {
    metrics?.failures(`${facts.host.namespace}/${facts.host.name}`, ofImage.error?.count ?? 0);
  }
  return {
    host: isOurs ? await writeHostStatus(host, hostStatus(facts, step), secret, context) : host,
    image: image === undefined || ofImage === null ? undefined : await writeImageStatus(image, ofImage, deps),
  };
}

// The content of a host's drive, as the BMC reports it to Ironic.

export type DriveReading =
  | { readonly drive: Drive; readonly driveProblem: null }
  | { drive: null; driveProblem: string };

/** Reads twice: the answers of a BMC in the middle of a change differ, and then neither counts. */
async function readDriveTwice(ironic: Ironic, uuid: string, signal: AbortSignal): Promise<DriveReading> {
  try {
    const first = await ironic.drive(uuid, signal);
    const second = await ironic.drive(uuid, signal);
    if (first.inserted === second.inserted && first.image === second.image)
      return { drive: second, driveProblem: null };
    return {
      drive: null,
      driveProblem: `the BMC reported ${describeDrive(first)} in it, and a moment later ${describeDrive(second)}`,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (!isIronicError(error)) throw error;
    return { drive: null, driveProblem: formatProblem(error) };
  }
}

const describeDrive = ({ inserted, image }: Drive): string => (inserted ? image : 'nothing');
