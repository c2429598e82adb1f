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
  imageSteps,
  type KeptImage,
  type MachineReading,
  type MachineResource,
  findRecordableVersion,
  nextDetails,
  nextKeptImages,
  shownVersion,
} from '@slipway/fleet/boot-images';
import type { Context, KubeObject, Stored } from '@slipway/kube';

/** On a resource, as JSON: the image before the last change, and the patch that restores it. */
export const IMAGE_BEFORE_ANNOTATION = 'slipway.dev/boot-image-before';

type History = Stored<BootImageHistory>;

/** The spec of a resource, and its image as the platform names it. */
type ImageSpec = Pick<ReadSpec, 'spec' | 'imagePaths'> & { readonly image: string };
type ReadSpec = Extract<MachineReading, { readonly ok: true }>;

/** The value of the annotation. */
export const imageBefore = (before: ImageSpec, now: number): string => encodeKeptImages([toKeptImage(before, '', now)]);

const toKeptImage = ({ image, spec, imagePaths }: ImageSpec, version: string, now: number): KeptImage => ({
  version,
  image,
  at: new Date(now).toISOString(),
  set: imageSteps(spec, imagePaths),
});

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
  const images = machine.ok && change.spec !== null ? imagesAfter(history, { machine, verdict, change }, context) : {};
  const wanted = { [bootImageAnnotation]: change.memory, ...images };
  await annotateHistory(history, wanted, { resource: verdict.resource, owner }, context);
}

interface ImageChange extends Pick<Decision, 'verdict'> {
  readonly machine: ReadSpec;
  readonly change: Change;
}

function imagesAfter(
  history: History | undefined,
  { machine, verdict, change }: ImageChange,
  context: Context,
): Record<string, string> {
  const now = context.now().getTime();
  const before = toKeptImage({ ...machine, image: verdict.image }, '', now);
  const after = toKeptImage(
    { ...machine, spec: change.spec ?? machine.spec, image: change.image },
    change.version,
    now,
  );
  const next = nextKeptImages(readImages(history), before.image === '' ? undefined : before, after);
  return { [bootImagesOfHistoryAnnotation]: encodeKeptImages(next) };
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
  const wanted = { [bootImagesOfHistoryAnnotation]: encodeKeptImages(keptWith(images, entry, now)) };
  const kept = await annotateHistory(history, wanted, { resource, owner: entry.owner }, context);
  const details = nextDetails(kept.status?.details ?? [], { version, generation: entry.generation, now });
  if (details !== null) await context.write.patchStatus(bootImageHistories, kept, { details });
}

function keptWith(kept: readonly KeptImage[], { decision, owner, machine }: Entry, now: number): readonly KeptImage[] {
  if (!machine.ok || decision.verdict.verdict !== 'current') return kept;
  const [before] = decodeKeptImages(owner.metadata.annotations?.[IMAGE_BEFORE_ANNOTATION]);
  const after = toKeptImage({ ...machine, image: decision.verdict.image }, decision.version ?? '', now);
  return nextKeptImages(kept, before?.image === '' ? undefined : before, after);
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
  const ownerReferences = [{ apiVersion: `${api}/v1beta1`, kind, name, uid }];
  const metadata = { name: historyName(resource), namespace, annotations: { ...annotations }, ownerReferences };
  const made = await write.createIfAbsent(bootImageHistories, { metadata, spec: historySpec(resource) });
  // The cache is stale, or the set was recreated and its old history is not garbage-collected yet.
  return made ?? client.get(bootImageHistories, metadata);
}
