// Maintains the BootImageHistory of a resource. The previous image is written onto the resource in the same patch as
// the new one. The images and the memory follow to the history in the same reconcile, and its status in the next: a kill
// in between loses nothing.
import {
  bootImageAnnotation,
  bootImageHistories,
  type BootImageHistory,
  bootImagesOfHistoryAnnotation,
} from '@slipway/api';
import {
  annotationSteps,
  type Change,
  type Decision,
  decodeKeptImages,
  encodeKeptImages,
  historyName,
  historySpec,
  keptAfterChange,
  type KeptImage,
  keptWhenChecked,
  type MachineReading,
  type MachineResource,
  findRecordableVersion,
  nextDetails,
  shownVersion,
  toKeptImage,
} from '@slipway/fleet/boot-images';
import type { Context, KubeObject, Stored } from '@slipway/kube';

/** On a resource, as JSON: the image before the last change, and the patch that restores it. */
export const IMAGE_BEFORE_ANNOTATION = 'slipway.dev/boot-image-before';

type History = Stored<BootImageHistory>;

/** The value of the annotation. `image`: as the platform names it. */
export const imageBefore = (
  machine: Extract<MachineReading, { readonly ok: true }>,
  image: string,
  now: number,
): string => encodeKeptImages([toKeptImage(machine, { image, version: '' }, now)]);

/** The image that a resource has now, and where it is from. */
interface Entry {
  readonly decision: Decision;
  readonly owner: Stored<KubeObject>;
  /** What its new machines get. */
  readonly machine: MachineReading;
  /** The generation of the ConfigMap. */
  readonly generation: number;
}

interface Written {
  readonly decision: Decision;
  readonly owner: Stored<KubeObject>;
  /** Before the change. */
  readonly machine: MachineReading;
  readonly change: Change;
}

/**
 * Stores what was just set, and the image before it. Not in the next reconcile: by then, a client that replaces the whole
 * resource may have removed our annotations from it.
 */
export async function rememberChange({ decision, owner, machine, change }: Written, context: Context): Promise<void> {
  const { verdict } = decision;
  const history = readHistory(verdict.resource, context);
  const kept =
    machine.ok && change.spec !== null
      ? keptAfterChange(readImages(history), { machine, verdict, change }, context.now().getTime())
      : null;
  const images = kept === null ? {} : { [bootImagesOfHistoryAnnotation]: encodeKeptImages(kept) };
  const wanted = { [bootImageAnnotation]: change.memory, ...images };
  await annotateHistory(history, wanted, { resource: verdict.resource, owner }, context);
}

const readHistory = (resource: MachineResource, { read }: Context): History | undefined =>
  read(bootImageHistories).get(`${resource.namespace}/${historyName(resource)}`);

const readImages = (history: History | undefined): readonly KeptImage[] =>
  decodeKeptImages(history?.metadata.annotations?.[bootImagesOfHistoryAnnotation]);

/** The memory on the history of a resource. */
export const readHistoryAnnotations = (resource: MachineResource, context: Context) =>
  readHistory(resource, context)?.metadata.annotations;

/** Records the image of the resource in the status, unless it is the last one there. */
export async function enterImage(entry: Entry, context: Context): Promise<void> {
  const { resource } = entry.decision.verdict;
  const history = readHistory(resource, context);
  const images = readImages(history);
  const version = findRecordableVersion(entry.decision, images);
  // A later ConfigMap with the same version is not a new image.
  if (version === null || history?.status?.details?.at(-1)?.bootImageVersion === shownVersion(version)) return;
  const now = context.now().getTime();
  const [before] = decodeKeptImages(entry.owner.metadata.annotations?.[IMAGE_BEFORE_ANNOTATION]);
  const next = keptWhenChecked(images, { ...entry, before }, now);
  const wanted = { [bootImagesOfHistoryAnnotation]: encodeKeptImages(next) };
  const kept = await annotateHistory(history, wanted, { resource, owner: entry.owner }, context);
  const details = nextDetails(kept.status?.details ?? [], { version, generation: entry.generation, now });
  if (details !== null) await context.write.patchStatus(bootImageHistories, kept, { details });
}

interface HistoryOwner {
  readonly resource: MachineResource;
  readonly owner: Stored<KubeObject>;
}

/** Creates the history if there is none. */
async function annotateHistory(
  history: History | undefined,
  annotations: Readonly<Record<string, string>>,
  owner: HistoryOwner,
  context: Context,
): Promise<History> {
  const found = history ?? (await create(owner, annotations, context));
  const steps = annotationSteps(found.metadata.annotations, annotations);
  return steps.length === 0 ? found : context.write.jsonPatch(bootImageHistories, found, steps);
}

async function create(
  { resource, owner }: HistoryOwner,
  annotations: Readonly<Record<string, string>>,
  { client, write }: Context,
): Promise<History> {
  const { api, kind, namespace } = resource;
  const { name, uid } = owner.metadata;
  const ownerReferences = [{ apiVersion: owner.apiVersion ?? `${api}/v1beta1`, kind, name, uid }];
  const metadata = { name: historyName(resource), namespace, annotations: { ...annotations }, ownerReferences };
  const made = await write.createIfAbsent(bootImageHistories, { metadata, spec: historySpec(resource) });
  // The cache is stale, or the set was recreated and its old history is not garbage-collected yet.
  return made ?? client.get(bootImageHistories, metadata);
}
