// Keeps the BootImageHistory of a resource. What the resource had before a change is written with the change itself, on the
// resource: the history follows when it is next looked at, so that a kill in between loses nothing.
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
  type JsonObject,
  type KeptImage,
  memoryCodec,
  nextDetails,
  nextKeptImages,
  patchSteps,
  withKeptImage,
} from '@slipway/fleet/boot-images';
import type { Context, KubeObject, Stored } from '@slipway/kube';

/** On a resource: the image that it had before the last change, and what sets it again, as JSON. Written with the image. */
export const IMAGE_BEFORE_ANNOTATION = 'slipway.dev/boot-image-before';

type History = Stored<BootImageHistory>;

/** For the annotation. `image`: of before. */
export const imageBefore = (image: string, before: JsonObject, after: JsonObject, now: number): string =>
  encodeKeptImages([{ version: '', image, at: new Date(now).toISOString(), set: patchSteps(after, before, '') }]);

/** What has an image now, and how it came to it. */
interface Entry {
  readonly decision: Decision;
  readonly owner: Stored<KubeObject>;
  /** What its machines are made from now. */
  readonly spec: JsonObject;
  /** Of the ConfigMap. */
  readonly generation: number;
}

/** Enters the image that we gave the resource. Nothing is written where that is done. */
export async function enterImage(entry: Entry, context: Context): Promise<void> {
  if (!isOurImage(entry)) return;
  const { resource } = entry.decision.verdict;
  const history = context.read(bootImageHistories).get(`${resource.namespace}/${historyName(resource)}`);
  // The same version of a later ConfigMap is no other image.
  if (history?.status?.details?.at(-1)?.bootImageVersion === entry.decision.version) return;
  const kept = await keepImages(history, entry, context);
  const details = detailsWith(kept, entry, context.now().getTime());
  if (details !== null) await context.write.patchStatus(bootImageHistories, kept, { details });
}

/** Whether it has the image that we gave it. */
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

/** Where nobody knows any more what it had before, only what it has now is kept. */
function keptWith(kept: readonly KeptImage[], { decision, owner, spec }: Entry, now: number): readonly KeptImage[] {
  const [before] = decodeKeptImages(owner.metadata.annotations?.[IMAGE_BEFORE_ANNOTATION]);
  const specBefore = before === undefined ? null : withKeptImage(spec, before);
  return nextKeptImages(kept, {
    before: { image: specBefore === null ? '' : (before?.image ?? ''), spec: specBefore ?? spec },
    after: { image: decision.verdict.image, spec, version: decision.version ?? '' },
    now,
  });
}

async function create({ decision, owner }: Entry, images: string, { client, write }: Context): Promise<History> {
  const { resource } = decision.verdict;
  const { api, kind, namespace } = resource;
  const { name, uid } = owner.metadata;
  const ownerReferences = [{ apiVersion: `${api}/v1beta1`, kind, name, uid }];
  const annotations = { [bootImagesOfHistoryAnnotation]: images };
  const metadata = { name: historyName(resource), namespace, annotations, ownerReferences };
  const made = await write.createIfAbsent(bootImageHistories, { metadata, spec: historySpec(resource) });
  // Our cache is behind, or a set of that name was made anew and the old history is not collected yet.
  return made ?? client.get(bootImageHistories, metadata);
}
