// Maintains the BootImageHistory of a resource. The previous image is written onto the resource in the same patch as
// the new one, and the history follows on the next reconcile: a kill in between loses nothing.
import {
  bootImageAnnotation,
  bootImageHistories,
  type BootImageHistory,
  bootImagesOfHistoryAnnotation,
} from '@slipway/api';
import {
  annotationSteps,
  type Decision,
  decodeKeptImages,
  encodeKeptImages,
  historyName,
  historySpec,
  imageSteps,
  type KeptImage,
  type MachineReading,
  memoryCodec,
  nextDetails,
  nextKeptImages,
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

/** Records the image that we set on the resource, unless the history has it already. */
export async function enterImage(entry: Entry, context: Context): Promise<void> {
  if (!isOurImage(entry)) return;
  const { resource } = entry.decision.verdict;
  const history = context.read(bootImageHistories).get(`${resource.namespace}/${historyName(resource)}`);
  // A later ConfigMap with the same version is not a new image.
  if (history?.status?.details?.at(-1)?.bootImageVersion === entry.decision.version) return;
  const kept = await keepImages(history, entry, context);
  const details = detailsWith(kept, entry, context.now().getTime());
  if (details !== null) await context.write.patchStatus(bootImageHistories, kept, { details });
}

/** Whether the resource still has the image that we set. */
const isOurImage = ({ decision: { verdict }, owner }: Entry): boolean =>
  verdict.verdict === 'current' &&
  memoryCodec.decode(owner.metadata.annotations?.[bootImageAnnotation])?.image === verdict.image;

const detailsWith = ({ status }: History, { decision, generation }: Entry, now: number) =>
  nextDetails(status?.details ?? [], { version: decision.version ?? '', generation, now });

async function keepImages(history: History | undefined, entry: Entry, context: Context): Promise<History> {
  const kept = decodeKeptImages(history?.metadata.annotations?.[bootImagesOfHistoryAnnotation]);
  const next = keptWith(kept, entry, context.now().getTime());
  if (history === undefined) return create(entry, encodeKeptImages(next), context);
  if (next === kept) return history;
  const wanted = { [bootImagesOfHistoryAnnotation]: encodeKeptImages(next) };
  return context.write.jsonPatch(bootImageHistories, history, annotationSteps(history.metadata.annotations, wanted));
}

function keptWith(kept: readonly KeptImage[], { decision, owner, machine }: Entry, now: number): readonly KeptImage[] {
  if (!machine.ok) return kept;
  const [before] = decodeKeptImages(owner.metadata.annotations?.[IMAGE_BEFORE_ANNOTATION]);
  const after = toKeptImage({ ...machine, image: decision.verdict.image }, decision.version ?? '', now);
  return nextKeptImages(kept, before?.image === '' ? undefined : before, after);
}

async function create({ decision, owner }: Entry, images: string, { client, write }: Context): Promise<History> {
  const { resource } = decision.verdict;
  const { api, kind, namespace } = resource;
  const { name, uid } = owner.metadata;
  const ownerReferences = [{ apiVersion: `${api}/v1beta1`, kind, name, uid }];
  const annotations = { [bootImagesOfHistoryAnnotation]: images };
  const metadata = { name: historyName(resource), namespace, annotations, ownerReferences };
  const made = await write.createIfAbsent(bootImageHistories, { metadata, spec: historySpec(resource) });
  // The cache is stale, or the set was recreated and its old history is not garbage-collected yet.
  return made ?? client.get(bootImageHistories, metadata);
}
