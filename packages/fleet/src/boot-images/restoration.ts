// What it takes to bring machines back to an earlier boot image, or to let it be updated again: decided from what was read.
import { bootImageHoldAnnotation } from '@slipway/api';
import { findKeptImage, type KeptImage, withKeptImage } from './history.ts';
import { annotationSteps, type JsonObject, type PatchStep } from './json.ts';
import type { MachineResource } from './verdict.ts';

export interface RestorationFacts {
  readonly resource: MachineResource;
  /** providerSpec.value, or spec.template.spec of the infrastructure template. */
  readonly spec: JsonObject;
  /** By its BootImageHistory; newest last. */
  readonly kept: readonly KeptImage[];
}

export interface Restoration {
  /** As the platform names it. */
  readonly image: string;
  /** What the hold says: the version, or the image where that is not known. */
  readonly hold: string;
  /** The spec with the image in it. */
  readonly spec: JsonObject;
}

export function restorationTo(
  wanted: string,
  { resource, spec, kept }: RestorationFacts,
): { readonly ok: true; readonly restoration: Restoration } | { readonly ok: false; readonly problem: string } {
  const found = findKeptImage(kept, wanted);
  if (found === undefined) return { ok: false, problem: unknownImage(wanted, resource, kept) };
  const { version, image } = found;
  const next = withKeptImage(spec, found);
  if (next !== null) return { ok: true, restoration: { image, hold: version || image, spec: next } };
  return {
    ok: false,
    problem: `${resourceWords(resource)}: image ${image} has no place in what describes its machines any more, which has become another since; nothing was written. Set the image yourself, and the annotation ${bootImageHoldAnnotation}=${version} with it`,
  };
}

type Annotations = Readonly<Record<string, string>> | undefined;

export const holdSteps = (annotations: Annotations, hold: string): readonly PatchStep[] =>
  annotationSteps(annotations, { [bootImageHoldAnnotation]: hold });

/** Empty: nobody holds it. */
export const releaseSteps = (annotations: Annotations): readonly PatchStep[] =>
  annotations === undefined ? [] : annotationSteps(annotations, { [bootImageHoldAnnotation]: null });

function unknownImage(wanted: string, resource: MachineResource, kept: readonly KeptImage[]): string {
  const names = [...new Set(kept.map(({ version, image }) => version || image))].toReversed();
  const way =
    names.length === 0
      ? 'no image of it is kept: only what Slipway has changed can be restored'
      : `there is ${names.join(', ')}`;
  return `${resourceWords(resource)} has had no boot image ${JSON.stringify(wanted)} that is still known; ${way}. slipway bootimages history ${resource.name} shows all`;
}

/** `MachineSet openshift-machine-api/a`, in a sentence. */
export const resourceWords = ({ kind, namespace, name }: MachineResource): string => `${kind} ${namespace}/${name}`;
