// Rolls machines back to an earlier boot image, or releases the hold: a decision from what was read.
import { bootImageHoldAnnotation } from '@slipway/api';
import { findKeptImage, type KeptImage, withKeptImage } from './history.ts';
import { annotationSteps, type JsonObject, type PatchStep } from './json.ts';
import type { ImagePaths } from './platforms/platform.ts';
import type { MachineResource } from './verdict.ts';

export interface RestorationFacts {
  readonly resource: MachineResource;
  /** providerSpec.value, or spec.template.spec of the infrastructure template. */
  readonly spec: JsonObject;
  readonly imagePaths: ImagePaths;
  /** From its BootImageHistory; newest last. */
  readonly kept: readonly KeptImage[];
}

export interface Restoration {
  /** As the platform names it. */
  readonly image: string;
  /** Value of the hold: the version, or the image if its version is unknown. */
  readonly hold: string;
  /** The spec with the image. */
  readonly spec: JsonObject;
}

export function restorationTo(
  wanted: string,
  { resource, spec, imagePaths, kept }: RestorationFacts,
): { readonly ok: true; readonly restoration: Restoration } | { readonly ok: false; readonly problem: string } {
  const found = findKeptImage(kept, wanted);
  if (found === undefined) return { ok: false, problem: unknownImage(wanted, resource, kept) };
  const { version, image } = found;
  const next = withKeptImage(spec, found, imagePaths);
  if (next !== null) return { ok: true, restoration: { image, hold: version || image, spec: next } };
  return {
    ok: false,
    problem: `${resourceWords(resource)}: image ${image} no longer fits the spec of its machines: what was recorded does not set every field that selects its image now. Nothing was written. Set the image and the annotation ${bootImageHoldAnnotation}=${version || image} by hand`,
  };
}

type Annotations = Readonly<Record<string, string>> | undefined;

export const holdSteps = (annotations: Annotations, hold: string): readonly PatchStep[] =>
  annotationSteps(annotations, { [bootImageHoldAnnotation]: hold });

/** Empty: no hold is set. */
export const releaseSteps = (annotations: Annotations): readonly PatchStep[] =>
  annotations === undefined ? [] : annotationSteps(annotations, { [bootImageHoldAnnotation]: null });

function unknownImage(wanted: string, resource: MachineResource, kept: readonly KeptImage[]): string {
  const names = [...new Set(kept.map(({ version, image }) => version || image))].toReversed();
  const way =
    names.length === 0
      ? 'none is recorded, because no image of a release was set on it since it was opted in'
      : `recorded: ${names.join(', ')}`;
  return `${resourceWords(resource)} has no recorded boot image ${JSON.stringify(wanted)}; ${way}. List all with: slipway bootimages history ${resource.name}`;
}

/** For messages: `MachineSet openshift-machine-api/a`. */
export const resourceWords = ({ kind, namespace, name }: MachineResource): string => `${kind} ${namespace}/${name}`;
