// What the controllers of both APIs share: which resources a change affects, and the reconcile of one of them. The
// decision is made, reported, executed and recorded.
import { bootImageAnnotation, bootImageHistories, type ConfigMap, secrets } from '@slipway/api';
import { formatProblem } from '@slipway/fleet';
import {
  type Change,
  CloneTakenError,
  type ClusterFacts,
  readClusterFacts,
  decideResource,
  type Decision,
  failedDecision,
  type Golden,
  type MachineKind,
  type MachineResource,
  type ResourceFacts,
  type StubReading,
  type UserData,
  withNewestMemory,
} from '@slipway/fleet/boot-images';
import {
  again,
  type Context,
  type ControllerDef,
  done,
  type Gate,
  isKubeError,
  keyOf,
  type KubeObject,
  parseKey,
  type Next,
  type Owned,
  type StoreReader,
  type Resource,
  type Source,
  type Stored,
} from '@slipway/kube';
import type { CanaryDecision } from './canary.ts';
import {
  enterImage,
  imageBefore,
  IMAGE_BEFORE_ANNOTATION,
  readHistoryAnnotations,
  rememberChange,
} from './history-writer.ts';
import type { VerdictBoard } from './report-controller.ts';
import {
  BOOT_IMAGES_GATE,
  readCluster,
  clusterSources,
  FIELD_MANAGER,
  historySource,
  type NamespacedSource,
  stubSource,
} from './sources.ts';
import {
  listConcernedSecrets,
  createUserDataReader,
  isManagedStub,
  keepCopy,
  type UserDataReader,
  viewSecrets,
} from './user-data.ts';

/** Shared by the controllers of both APIs. */
export interface BootImageDeps {
  /** The namespace of the ConfigMap. */
  readonly namespace: string;
  readonly board: VerdictBoard;
  readonly golden: (configMap: ConfigMap | undefined, now: number) => Golden;
}

export interface MachineOwnerDeps extends BootImageDeps {
  readonly userData: UserDataReader;
}

/** A kind that creates machines. */
export interface MachineOwnerKind<T extends KubeObject> extends MachineKind {
  /** The name of the controller. */
  readonly name: string;
  readonly source: NamespacedSource<T>;
  /** Further kinds to read and write. */
  readonly reads: readonly Source[];
  readonly owns: readonly Owned[];
  /** The user-data Secret that the object references, or ''. */
  userDataOf(this: void, object: T): string;
  /** The name of the object that this one is reconciled through; undefined for itself. */
  ownerOf?(this: void, object: T): string | undefined;
  /** The name of the object that waits for another one, which may be over: its own or one that is reconciled through it. */
  nextInLine?(this: void): string | undefined;
  /** Cleans up while the feature gate is off. */
  readonly whenOff?: Gate['whenOff'];
  look(this: void, found: MachineOwnerContext<T>): Promise<Next>;
}

export interface MachineOwnerContext<T extends KubeObject> {
  readonly object: Stored<T>;
  readonly about: MachineResource;
  readonly parts: MachineOwnerDeps;
  readonly context: Context;
}

/** A new release changes up to a thousand of them together. */
const WORKERS = 32;
const BY_SECRET = 'secret';
/** The key under which a controller announces, once its cache is synced, which resources exist. */
const BEGIN = '*';

export function machinesController<T extends KubeObject>(
  ownerKind: MachineOwnerKind<T>,
  shared: BootImageDeps,
): ControllerDef {
  const { source, api, kind, ownerOf = () => undefined, nextInLine, whenOff } = ownerKind;
  const { resource, namespace } = source;
  const parts: MachineOwnerDeps = {
    ...shared,
    userData: createUserDataReader(),
  };
  const toMachineResource = (name: string): MachineResource => ({ api, kind, namespace, name });
  const all = (read: StoreReader): Stored<T>[] =>
    [...read(resource).values()].filter((object) => ownerOf(object) === undefined);
  const every = (_: unknown, read: StoreReader): string[] => all(read).map(keyOf);
  const own: Source<T> = {
    ...source,
    indexes: { [BY_SECRET]: (object) => listConcernedSecrets(ownerKind.userDataOf(object)) },
    keysOf: (object) => {
      const names = ownerOf(object) === undefined ? [object.metadata.name] : [ownerOf(object), nextInLine?.()];
      return names.filter((name) => name !== undefined).map((name) => `${namespace}/${name}`);
    },
  };
  return {
    name: ownerKind.name,
    gate: whenOff === undefined ? BOOT_IMAGES_GATE : { name: BOOT_IMAGES_GATE, whenOff },
    fieldManager: FIELD_MANAGER,
    workers: WORKERS,
    startsWith: [BEGIN],
    listen: (wake) =>
      shared.board.onChange(() => {
        const name = nextInLine?.();
        if (name !== undefined) wake(`${namespace}/${name}`);
      }),
    reads: [
      own,
      ...clusterSources(shared.namespace, every),
      {
        ...stubSource(namespace),
        keysOf: (secret, read) =>
          isManagedStub(secret.metadata.name)
            ? every(secret, read)
            : read(resource).byIndex(BY_SECRET, secret.metadata.name).map(keyOf),
      },
      historySource(namespace, ({ metadata, spec: { machineResourceReference: of } }) =>
        // A user removed the memory, so that a stopped update is tried again.
        metadata.annotations?.[bootImageAnnotation] === undefined && of.resource === kind && of.apiGroup === api
          ? [`${namespace}/${of.name}`]
          : [],
      ),
      ...ownerKind.reads,
    ],
    owns: [
      { resource },
      { resource: secrets },
      { resource: bootImageHistories },
      { resource: bootImageHistories, subresource: 'status' },
      ...ownerKind.owns,
    ],
    async reconcile(key, context) {
      const { read } = context;
      if (key === BEGIN) {
        shared.board.begin(
          { api, kind },
          all(read).map(({ metadata }) => toMachineResource(metadata.name)),
        );
        return done();
      }
      const object = await readObject(resource, key, context);
      const about = toMachineResource(parseKey(key).name);
      if (object === undefined || object.metadata.deletionTimestamp !== undefined) {
        shared.board.remove(about);
        return done();
      }
      if (ownerOf(object) !== undefined) return done();
      return ownerKind.look({ object, about, parts, context });
    },
  };
}

async function readObject<T extends KubeObject>(
  resource: Resource<T>,
  key: string,
  { read, client, unsure }: Context,
): Promise<Stored<T> | undefined> {
  return unsure ? client.find(resource, parseKey(key)) : read(resource).get(key);
}

/** A resource, and how to change it. */
export interface MachineOwnerUpdate {
  readonly resource: Resource;
  readonly object: Stored<KubeObject>;
  readonly facts: Omit<ResourceFacts, 'stub'>;
  /** The user-data Secret that it references, or ''. Null: its user data is not managed here. */
  readonly userData: string | null;
  /** What a change means for existing machines; '' for nothing. */
  readonly consequence: string;
  /** Why the spec could not be read, although it may exist: reported and retried. Null: it was read. */
  readonly readError: unknown;
  /** Whether it may be changed now. */
  mayChange(change: Change): Promise<CanaryDecision>;
  /** Writes one patch, including these annotations. */
  change(change: Change, annotations: Readonly<Record<string, string>>): Promise<unknown>;
  /** Nothing needs to change: removes what an earlier change left behind. */
  tidy(): Promise<void>;
}

export async function executeUpdate(
  update: MachineOwnerUpdate,
  parts: MachineOwnerDeps,
  context: Context,
): Promise<Next> {
  const now = context.now().getTime();
  const { configMap, ...objects } = readCluster(context.read, parts.namespace);
  const golden = parts.golden(configMap, now);
  const cluster = readClusterFacts(objects, golden, now);
  const stub = await readStub(update, parts, context);
  const facts = { ...update.facts, stub: stub.data.reading };
  const remembered = withNewestMemory(facts, readHistoryAnnotations(facts.resource, context));
  const decision = decideResource(remembered, cluster);
  parts.board.announce(decision);
  // Retried only where the read matters: with a precondition unmet, nothing needs it.
  if (update.readError !== null && decision.verdict.verdict === 'failed') throw update.readError;
  if (stub.error !== null && decision.verdict.code === 'SLW_BOOT_IMAGES_STUB') throw stub.error;
  try {
    return await act(update, { decision, copy: stub.data.copy, cluster, golden }, parts, context);
  } catch (error) {
    context.signal.throwIfAborted();
    if (isKubeError(error)) parts.board.put(failedDecision(decision, 'SLW_BOOT_IMAGES_WRITE', describeError(error)));
    if (error instanceof CloneTakenError) parts.board.put(failedDecision(decision, error.code, error.message));
    throw error;
  }
}

const unmanagedStub: UserData = {
  reading: { ok: true, current: '', wanted: '', note: '', needsNewImage: false },
  copy: null,
};

async function readStub(
  { facts, userData }: MachineOwnerUpdate,
  parts: MachineOwnerDeps,
  context: Context,
): Promise<{ readonly data: UserData; readonly error: unknown }> {
  if (userData === null) return { data: unmanagedStub, error: null };
  try {
    return {
      data: await parts.userData.read(facts.resource, userData, viewSecrets(facts.resource.namespace, context)),
      error: null,
    };
  } catch (error) {
    context.signal.throwIfAborted();
    if (!isKubeError(error)) throw error;
    const reading: StubReading = { ok: false, current: userData, message: describeError(error) };
    return { data: { reading, copy: null }, error };
  }
}

const describeError = (error: { readonly message: string; readonly code: string }): string =>
  error.code === 'SLW_KUBE_CONFLICT'
    ? `another client changed it at the same time. Slipway retries [${error.code}]`
    : formatProblem(error);

interface UpdateFindings {
  readonly decision: Decision;
  readonly copy: UserData['copy'];
  readonly cluster: ClusterFacts;
  readonly golden: Golden;
}

async function act(
  update: MachineOwnerUpdate,
  found: UpdateFindings,
  parts: MachineOwnerDeps,
  context: Context,
): Promise<Next> {
  const { decision, copy, golden } = found;
  const { change, verdict } = decision;
  const { namespace } = verdict.resource;
  // A referenced copy stays current whatever the image is, even if the resource opted out since.
  if (copy !== null && copy.name === (change?.userData ?? verdict.stub.current))
    await keepCopy(copy, namespace, context);
  if (change !== null) return makeChange(update, change, found, parts, context);
  await update.tidy();
  const { machine } = update.facts;
  const entry = { decision, owner: update.object, machine, generation: readGeneration(golden) };
  await enterImage(entry, context);
  return decideRequeue(decision, golden);
}

/** A stamp that never arrives becomes overdue without any change in the cluster. */
function decideRequeue({ gate }: Decision, { stamp }: Golden): Next {
  const wait = gate === 'stamp' ? (stamp?.lookAgainMs ?? null) : null;
  return wait === null ? done() : again(wait);
}

async function makeChange(
  update: MachineOwnerUpdate,
  change: Change,
  found: UpdateFindings,
  parts: MachineOwnerDeps,
  context: Context,
): Promise<Next> {
  const may = await update.mayChange(change);
  if (may.type === 'wait') {
    parts.board.put(found.decision);
    return again(may.ms);
  }
  if (may.type === 'failed') {
    parts.board.put(failedDecision(found.decision, 'SLW_BOOT_IMAGES_CANARY', may.why));
    return done();
  }
  await update.change(change, buildAnnotations(update, change, found));
  recordEvent(update, change, found.decision, context);
  const { machine } = update.facts;
  await rememberChange({ decision: found.decision, owner: update.object, machine, change }, context);
  parts.board.put(found.decision);
  // Our write triggers the next reconcile, queued after all resources that still wait for their image. It records this
  // one.
  return done();
}

/** Written in the same patch as the image. */
function buildAnnotations(
  { facts }: MachineOwnerUpdate,
  { spec, memory }: Change,
  { decision, cluster }: UpdateFindings,
): Record<string, string> {
  const { machine } = facts;
  const { image } = decision.verdict;
  return {
    [bootImageAnnotation]: memory,
    ...(machine.ok && spec !== null && { [IMAGE_BEFORE_ANNOTATION]: imageBefore(machine, image, cluster.now) }),
  };
}

const readGeneration = ({ reading }: Golden): number => (reading.type === 'valid' ? reading.golden.generation : 0);

function recordEvent(
  { resource, object, consequence }: MachineOwnerUpdate,
  { image, spec, userData }: Change,
  { verdict }: Decision,
  { events, log }: Context,
): void {
  const what = [
    ...(spec === null ? [] : [`boot image ${verdict.image === '' ? '' : `${verdict.image} → `}${image}`]),
    ...(userData === null ? [] : [`user data ${verdict.stub.current} → ${userData}`]),
  ].join(', ');
  const message = `${resource.kind} ${object.metadata.name}: ${what}. ${consequence === '' ? 'Machines created from now on use it' : consequence}`;
  log.info({ image, userData }, message);
  events.record(resource, object, { type: 'Normal', reason: 'BootImageUpdated', message });
}
