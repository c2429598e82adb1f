// What the controllers of all kinds that make machines have in common: whom a change concerns, and what is done about one of them,
// of whichever API. The decision is taken, told, carried out and entered.
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
} from '@slipway/fleet/boot-images';
import {
  again,
  type Context,
  type ControllerDef,
  done,
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
import { enterImage, imageBefore, IMAGE_BEFORE_ANNOTATION } from './history-writer.ts';
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
} from './user-data.ts';

/** What the controllers of both APIs have in common. */
export interface BootImageDeps {
  /** Where the ConfigMap is. */
  readonly namespace: string;
  readonly board: VerdictBoard;
  readonly golden: (configMap: ConfigMap | undefined, now: number) => Golden;
}

export interface MachineOwnerDeps extends BootImageDeps {
  readonly userData: UserDataReader;
}

/** A kind that makes machines. */
export interface MachineOwnerKind<T extends KubeObject> extends MachineKind {
  /** Of the controller. */
  readonly name: string;
  readonly source: NamespacedSource<T>;
  /** What else is read and written. */
  readonly reads: readonly Source[];
  readonly owns: readonly Owned[];
  /** The Secret with user data that one names; '' where it names none. */
  userDataOf(this: void, object: T): string;
  /** The name of the one through which it is looked at; undefined: it is one by itself. */
  ownerOf?(this: void, object: T): string | undefined;
  look(this: void, found: MachineOwnerContext<T>): Promise<Next>;
}

export interface MachineOwnerContext<T extends KubeObject> {
  readonly object: Stored<T>;
  readonly about: MachineResource;
  readonly parts: MachineOwnerDeps;
  readonly context: Context;
}

/** A thousand of them change at once when a release comes. */
const WORKERS = 32;
const BY_SECRET = 'secret';
/** The key under which a controller tells, once it has read them, which ones there are. */
const BEGIN = '*';

export function machinesController<T extends KubeObject>(
  ownerKind: MachineOwnerKind<T>,
  shared: BootImageDeps,
): ControllerDef {
  const { source, api, kind, ownerOf = () => undefined } = ownerKind;
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
    keysOf: (object) => [`${namespace}/${ownerOf(object) ?? object.metadata.name}`],
  };
  return {
    name: ownerKind.name,
    gate: BOOT_IMAGES_GATE,
    fieldManager: FIELD_MANAGER,
    workers: WORKERS,
    startsWith: [BEGIN],
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
      { ...historySource(namespace), keysOf: () => [] },
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

/** The resource, and how it is changed. */
export interface MachineOwnerUpdate {
  readonly resource: Resource;
  readonly object: Stored<KubeObject>;
  readonly facts: Omit<ResourceFacts, 'stub'>;
  /** The Secret with user data that it names; '' where it names none, null where that is somebody else's business. */
  readonly userData: string | null;
  /** What a change means for machines that are there already; '': nothing. */
  readonly consequence: string;
  /** Why what it boots could not be read, though it may be there: told, and tried again. Null: it was. */
  readonly readError: unknown;
  /** Whether it may be changed now. */
  mayChange(change: Change): Promise<CanaryDecision>;
  /** In one patch of the object, with these annotations. */
  change(change: Change, annotations: Readonly<Record<string, string>>): Promise<unknown>;
  /** Nothing is to be changed: what an earlier change has left can go. */
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
  const decision = decideResource({ ...update.facts, stub: stub.data.reading }, cluster);
  parts.board.put(decision);
  // Where it counts, it is tried again; where a gate is closed, nobody asks for it.
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
    return { data: await parts.userData.read(facts.resource, userData, context), error: null };
  } catch (error) {
    context.signal.throwIfAborted();
    if (!isKubeError(error)) throw error;
    const reading: StubReading = { ok: false, current: userData, message: describeError(error) };
    return { data: { reading, copy: null }, error };
  }
}

const describeError = (error: { readonly message: string; readonly code: string }): string =>
  error.code === 'SLW_KUBE_CONFLICT'
    ? `somebody else changes it at the same time: it is tried again [${error.code}]`
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
  // One that is referred to is kept current whatever the image is, and whoever has opted out since.
  if (copy !== null && copy.name === (change?.userData ?? verdict.stub.current))
    await keepCopy(copy, namespace, context);
  if (change !== null) return makeChange(update, change, found, parts, context);
  await update.tidy();
  const spec = update.facts.machine.ok ? update.facts.machine.spec : {};
  const entry = { decision, owner: update.object, spec, generation: readGeneration(golden) };
  await enterImage(entry, context);
  return decideRequeue(decision, golden);
}

/** A stamp that does not come is late after a time, though nothing changes. */
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
  if (may.type === 'wait') return again(may.ms);
  if (may.type === 'failed') {
    parts.board.put(failedDecision(found.decision, 'SLW_BOOT_IMAGES_CANARY', may.why));
    return done();
  }
  await update.change(change, buildAnnotations(update, change, found));
  recordEvent(update, change, found.decision, context);
  // What we wrote brings it back here, behind all that still wait for their image: then it is entered.
  return done();
}

/** In the same patch as the image: one change is one write. */
function buildAnnotations(
  { facts }: MachineOwnerUpdate,
  { spec, memory }: Change,
  { decision, cluster }: UpdateFindings,
): Record<string, string> {
  const before = facts.machine.ok && spec !== null ? facts.machine.spec : null;
  return {
    [bootImageAnnotation]: memory,
    ...(before !== null &&
      spec !== null && { [IMAGE_BEFORE_ANNOTATION]: imageBefore(decision.verdict.image, before, spec, cluster.now) }),
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
  const message = `${resource.kind} ${object.metadata.name}: ${what}. ${consequence === '' ? 'Machines made from now on have it' : consequence}`;
  log.info({ image, userData }, message);
  events.record(resource, object, { type: 'Normal', reason: 'BootImageUpdated', message });
}
