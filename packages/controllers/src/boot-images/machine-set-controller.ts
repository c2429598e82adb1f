// What the controllers of all kinds that make machines have in common: whom a change concerns, and when there is nothing to do.
import { bootImageCanaryLabel, bootImageHistories, type MachineSet, machineSets, secrets } from '@slipway/api';
import {
  annotationSteps,
  type Change,
  type JsonObject,
  machineContextOf,
  type MachineKind,
  type MachineResource,
  patchSteps,
  type Platform,
  providerSpecPointer,
  readMachineSet,
  resourceFacts,
  userDataSecretOf,
  withUserDataSecret,
} from '@slipway/fleet/boot-images';
import {
  again,
  type Context,
  type ControllerDef,
  done,
  keyOf,
  type KubeObject,
  nameOf,
  type Next,
  type Owned,
  type Read,
  type Resource,
  type Source,
  type Stored,
} from '@slipway/kube';
import { createFreshness } from '../freshness.ts';
import { removeCanary, tryFirst } from './canary.ts';
import { createHistoryWriter } from './history-writer.ts';
import { carryOut, type Parts, type Shared, type Work } from './reconcile.ts';
import {
  bootImagesGate,
  type BootImagesOptions,
  clusterIn,
  clusterSources,
  fieldManager,
  historySource,
  machineSetSource,
  type Placed,
  stubSource,
} from './sources.ts';
import { concernedBy, createUserDataReader, isManagedStub } from './user-data.ts';

/** A kind that makes machines. */
export interface Makers<T extends KubeObject> extends MachineKind {
  /** Of the controller. */
  readonly name: string;
  readonly source: Placed<T>;
  /** What else is read and written. */
  readonly reads: readonly Source[];
  readonly owns: readonly Owned[];
  /** The Secret with user data that one names; '' where it names none. */
  userDataOf(this: void, object: T): string;
  /** The name of the one through which it is looked at; undefined: it is one by itself. */
  ownerOf?(this: void, object: T): string | undefined;
  look(this: void, found: Found<T>): Promise<Next>;
}

export interface Found<T extends KubeObject> {
  readonly object: Stored<T>;
  readonly about: MachineResource;
  readonly parts: Parts;
  readonly context: Context;
}

/** A thousand of them change at once when a release comes. */
const WORKERS = 32;
/** Until our cache has seen what we wrote, where its event should have woken us before. */
const BEHIND_MS = 1000;
const bySecret = 'secret';
/** The key under which a controller tells, once it has read them, which ones there are. */
const BEGIN = '*';

export function machinesController<T extends KubeObject>(makers: Makers<T>, shared: Shared): ControllerDef {
  const { source, api, kind, ownerOf = () => undefined } = makers;
  const { resource, namespace } = source;
  const parts: Parts = {
    ...shared,
    fresh: createFreshness(),
    userData: createUserDataReader(),
    history: createHistoryWriter(),
  };
  const aboutOf = (name: string): MachineResource => ({ api, kind, namespace, name });
  const all = (read: Read): Stored<T>[] =>
    [...read(resource).values()].filter((object) => ownerOf(object) === undefined);
  const every = (_: unknown, read: Read): string[] => all(read).map(keyOf);
  const own: Source<T> = {
    ...source,
    indexes: { [bySecret]: (object) => concernedBy(makers.userDataOf(object)) },
    keysOf: (object) => [`${namespace}/${ownerOf(object) ?? object.metadata.name}`],
  };
  return {
    name: makers.name,
    gate: bootImagesGate,
    fieldManager,
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
            : read(resource).byIndex(bySecret, secret.metadata.name).map(keyOf),
      },
      { ...historySource(namespace), keysOf: () => [] },
      ...makers.reads,
    ],
    owns: [
      { resource },
      { resource: secrets },
      { resource: bootImageHistories },
      { resource: bootImageHistories, subresource: 'status' },
      ...makers.owns,
    ],
    async reconcile(key, context) {
      const { read } = context;
      if (key === BEGIN) {
        shared.board.begin(
          { api, kind },
          all(read).map(({ metadata }) => aboutOf(metadata.name)),
        );
        return done();
      }
      const object = await objectNow(resource, key, context);
      const about = aboutOf(nameOf(key).name);
      if (object === undefined || object.metadata.deletionTimestamp !== undefined) {
        shared.board.remove(about);
        return done();
      }
      if (ownerOf(object) !== undefined) return done();
      if (parts.fresh.isBehind(resource.kind, read(resource), key)) return again(BEHIND_MS);
      return makers.look({ object, about, parts, context });
    },
  };
}

async function objectNow<T extends KubeObject>(
  resource: Resource<T>,
  key: string,
  { read, client, unsure }: Context,
): Promise<Stored<T> | undefined> {
  return unsure ? client.find(resource, nameOf(key)) : read(resource).get(key);
}

// Keeps the boot images and the user data of MachineSets of the Machine API. What becomes of each is decided by `decideResource`;
// this reads what it is decided on, and carries out the answer.

export const machineSetsController = (options: BootImagesOptions, shared: Shared): ControllerDef =>
  machinesController(
    {
      name: 'boot-images-machine-sets',
      api: 'machine.openshift.io',
      kind: 'MachineSet',
      source: machineSetSource(options.machineApiNamespace),
      reads: [],
      owns: [],
      userDataOf: userDataSecretOf,
      ownerOf: triedFor,
      look: (found) => carryOut(workOn(found, options), found.parts, found.context),
    },
    shared,
  );

/** A canary is the business of the set that it is of. */
function triedFor({ metadata }: MachineSet): string | undefined {
  if (metadata.labels?.[bootImageCanaryLabel] === undefined) return undefined;
  return metadata.ownerReferences?.[0]?.name ?? metadata.name;
}

function workOn({ object: set, about, context }: Found<MachineSet>, options: BootImagesOptions): Work {
  const cluster = clusterIn(context.read, options.namespace);
  const { machine, userData } = readMachineSet(set, machineContextOf(cluster));
  const next = (change: Change): JsonObject => (machine.ok ? nextSpec(machine.platform, machine.spec, change) : {});
  return {
    resource: machineSets,
    object: set,
    facts: { ...resourceFacts(about, set), machine },
    userData,
    consequence: '',
    readError: null,
    // What people bring themselves is theirs to try, and user data comes from the same server as before.
    mayChange: async (change) =>
      options.canary === true && change.spec !== null ? tryFirst(set, next(change), context) : { type: 'go' },
    async change(change, annotations) {
      const steps = machine.ok ? patchSteps(machine.spec, next(change), providerSpecPointer) : [];
      const { uid, resourceVersion } = set.metadata;
      const patch = {
        type: 'json',
        body: [...steps, ...annotationSteps(set.metadata.annotations, annotations)],
      } as const;
      return context.client.patch(machineSets, set.metadata, patch, { uid, resourceVersion }, { fieldManager });
    },
    tidy: () => removeCanary(set, context),
  };
}

function nextSpec(platform: Platform, spec: JsonObject, change: Change): JsonObject {
  const withImage = change.spec ?? spec;
  return change.userData === null ? withImage : withUserDataSecret(platform, withImage, change.userData);
}
