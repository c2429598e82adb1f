// The verdict about the boot image of a MachineSet or MachineDeployment: plain data.
import { bootImageAdoptAnnotation, type bootImagePlatforms, BOOT_IMAGES_CONFIG_MAP } from '@slipway/api';
import { type Json, type JsonObject, shown } from './json.ts';

/** As Infrastructure `cluster` names platforms, in lower case. */
export type Platform = Lowercase<(typeof bootImagePlatforms)[number]>;

/** As stream metadata names them. */
export type Architecture = 'x86_64' | 'aarch64' | 'ppc64le' | 's390x';

/** A file that must be imported into the platform first. */
export interface Artifact {
  readonly location: string;
  readonly sha256: string;
  readonly uncompressedSha256: string | null;
  /** Of the boot image, such as 9.6.20251023-0. */
  readonly version: string;
}

/** The verdict of a platform's rule about one spec. `image`: human-readable, as the platform names it; '' if none. */
export type ImageVerdict =
  /** It boots the image that the payload ships. */
  | { readonly type: 'current'; readonly image: string; readonly version: string }
  /** It must boot `to`: `spec` is the whole spec with only the image changed. */
  | {
      readonly type: 'change';
      readonly image: string;
      readonly to: string;
      readonly version: string;
      readonly spec: JsonObject;
    }
  /** The user must import the artifact first. `commands`: what to run, with all known values filled in. */
  | {
      readonly type: 'manual';
      readonly image: string;
      readonly to: string;
      readonly artifact: Artifact;
      readonly commands: readonly string[];
    }
  /** A user-managed image: ignored, and reported as such. `isUnknown`: or one of an earlier release. */
  | { readonly type: 'theirs'; readonly image: string; readonly why: string; readonly isUnknown: boolean }
  /** The image cannot be determined. */
  | { readonly type: 'failed'; readonly image: string; readonly code: BootImageCode; readonly message: string };

export type BootImageCode =
  | 'SLW_BOOT_IMAGES_MISSING'
  | 'SLW_BOOT_IMAGES_INVALID'
  | 'SLW_BOOT_IMAGES_VERSION'
  | 'SLW_BOOT_IMAGES_STREAM'
  | 'SLW_BOOT_IMAGES_ARCH'
  | 'SLW_BOOT_IMAGES_REGION'
  | 'SLW_BOOT_IMAGES_SPEC'
  | 'SLW_BOOT_IMAGES_PLATFORM'
  | 'SLW_BOOT_IMAGES_STUB'
  | 'SLW_BOOT_IMAGES_WRITE'
  | 'SLW_BOOT_IMAGES_HOT_LOOP'
  | 'SLW_BOOT_IMAGES_CANARY'
  | 'SLW_BOOT_IMAGES_TEMPLATE';

/** The input of a platform's rule, in addition to the spec. */
export interface ImageQuestion {
  /** `architectures.<arch>` of the stream metadata of the machines' OS stream. */
  readonly images: JsonObject;
  readonly architecture: Architecture;
  /** Infrastructure `cluster`, status.infrastructureName; '' if unknown. */
  readonly infrastructureName: string;
  /** Infrastructure `cluster`, status.platformStatus.azure.cloudName, such as AzureStackCloud; '' elsewhere. */
  readonly azureCloud: string;
  /** The owner of the spec, for the commands that the user runs. */
  readonly resource: MachineResource;
  /** The user allows Slipway to replace a user-managed image: annotation slipway.dev/boot-image-adopt=true. */
  readonly isAdopted: boolean;
  /** Ids of images that were ever in the ConfigMap, or that we set: they may be replaced. */
  readonly knownImages: ReadonlySet<string>;
}

/** One for each platform and API. `spec`: providerSpec.value, or spec.template.spec of an infrastructure template. */
export type ImageRule = (spec: JsonObject, question: ImageQuestion) => ImageVerdict;

/** A resource that creates machines. */
export interface MachineResource {
  readonly api: 'machine.openshift.io' | 'cluster.x-k8s.io';
  readonly kind: 'MachineSet' | 'MachineDeployment';
  readonly namespace: string;
  readonly name: string;
}

export type MachineKind = Pick<MachineResource, 'api' | 'kind'>;

/** The verdict about one resource, with the reason: a row of `slipway bootimages`. */
export interface ResourceVerdict {
  readonly resource: MachineResource;
  readonly platform: Platform | null;
  readonly architecture: Architecture | null;
  readonly verdict: 'current' | 'update' | 'manual' | 'theirs' | 'skipped' | 'failed';
  /** Current and desired image, human-readable; '' if unknown. */
  readonly image: string;
  readonly target: string;
  /** Name of the current and of the desired Secret with user data. */
  readonly stub: { readonly current: string; readonly wanted: string };
  /** The unmet precondition, or what is wrong; '' if there is nothing to report. */
  readonly why: string;
  readonly code: BootImageCode | null;
}

// Messages that the rules of all platforms share.

/** A field of the spec does not match the platform's format. */
export const badSpec = (path: string, expected: string, found: Json | undefined): ImageVerdict => ({
  type: 'failed',
  image: '',
  code: 'SLW_BOOT_IMAGES_SPEC',
  message: `providerSpec.value.${path}: expected ${expected}, found ${shown(found)}. Correct it, or opt the machines out of boot image updates.`,
});

/** The stream has no image for the platform on this architecture. */
export const noImage = (image: string, { architecture }: ImageQuestion, place: string): ImageVerdict => ({
  type: 'failed',
  image,
  code: 'SLW_BOOT_IMAGES_ARCH',
  message: `ConfigMap ${BOOT_IMAGES_CONFIG_MAP}: expected ${place} for ${architecture}, found none. The release ships no such boot image: upgrade to a release that does, or opt the machines out of boot image updates.`,
});

export const noRegion = (image: string, region: string, regions: readonly string[]): ImageVerdict => ({
  type: 'failed',
  image,
  code: 'SLW_BOOT_IMAGES_REGION',
  message: `ConfigMap ${BOOT_IMAGES_CONFIG_MAP}: expected an image for region ${shown(region)}, found ${regions.length === 0 ? 'none' : `only ${regions.slice(0, 40).join(', ')}`}. Copy the image to the region by hand, and opt the machines out of boot image updates.`,
});

/** A user-managed image: `why` is a sentence. */
export const notOurs = (image: string, why: string): ImageVerdict => ({
  type: 'theirs',
  image,
  isUnknown: false,
  why: `${why} Slipway does not change it. To let Slipway replace it, set annotation ${bootImageAdoptAnnotation}=true on the MachineSet or MachineDeployment.`,
});

/**
 * An image whose reference does not show who made it, such as an id. A cluster that is older than Slipway has such an
 * image of an earlier release.
 */
export const unknownImage = (image: string, { resource }: ImageQuestion): ImageVerdict => ({
  type: 'theirs',
  image,
  isUnknown: true,
  why: `Slipway does not know image ${image}: it is of an earlier release, from a marketplace or a custom one. It stays. If a release shipped it, let Slipway replace it: slipway bootimages adopt ${resource.name}`,
});

/** A field of the template does not match its provider's format. */
export const badTemplate = (path: string, expected: string, found: Json | undefined): ImageVerdict => ({
  type: 'failed',
  image: '',
  code: 'SLW_BOOT_IMAGES_SPEC',
  message: `spec.template.spec.${path} of the template: expected ${expected}, found ${shown(found)}. Use a template that has it, or opt the machines out of boot image updates.`,
});
