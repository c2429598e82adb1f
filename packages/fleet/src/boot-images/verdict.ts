// What is found about the boot image of something that makes machines: plain data.
import { bootImageAdoptAnnotation, type bootImagePlatforms, BOOT_IMAGES_CONFIG_MAP } from '@slipway/api';
import { type Json, type JsonObject, shown } from './json.ts';

/** As Infrastructure `cluster` names platforms, in lower case. */
export type Platform = Lowercase<(typeof bootImagePlatforms)[number]>;

/** As stream metadata names them. */
export type Architecture = 'x86_64' | 'aarch64' | 'ppc64le' | 's390x';

/** A file that a person or a tool must first bring to the platform. */
export interface Artifact {
  readonly location: string;
  readonly sha256: string;
  readonly uncompressedSha256: string | null;
  /** Of the boot image, such as 9.6.20251023-0. */
  readonly version: string;
}

/** What the rule of a platform says of one spec. `image`: for people, as the platform names it; '' where there is none. */
export type ImageVerdict =
  /** It boots what the payload ships. */
  | { readonly type: 'current'; readonly image: string; readonly version: string }
  /** It is to boot `to`: `spec` is the whole spec with nothing else changed. */
  | {
      readonly type: 'change';
      readonly image: string;
      readonly to: string;
      readonly version: string;
      readonly spec: JsonObject;
    }
  /** Somebody must import the artifact first. `commands`: what to run, with every value filled in that is known. */
  | {
      readonly type: 'manual';
      readonly image: string;
      readonly to: string;
      readonly artifact: Artifact;
      readonly commands: readonly string[];
    }
  /** The owner's own image: left alone, and said so. */
  | { readonly type: 'theirs'; readonly image: string; readonly why: string }
  /** It cannot be told. */
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

/** What the rule of a platform looks at, beside the spec. */
export interface ImageQuestion {
  /** `architectures.<arch>` of the stream metadata of the machines' OS stream. */
  readonly images: JsonObject;
  readonly architecture: Architecture;
  /** Infrastructure `cluster`, status.infrastructureName; '' where it is not known. */
  readonly infrastructureName: string;
  /** Infrastructure `cluster`, status.platformStatus.azure.cloudName, such as AzureStackCloud; '' elsewhere. */
  readonly azureCloud: string;
  /** What the spec is of: for the commands that a person is to run. */
  readonly resource: MachineResource;
  /** Somebody has said that an image that is not ours may be replaced: annotation slipway.dev/boot-image-adopt=true. */
  readonly isAdopted: boolean;
  /** Ids of images that were in the ConfigMap at any time, or that we have set: what we may replace where an id tells nothing. */
  readonly knownImages: ReadonlySet<string>;
  /** The version of the platform's boot image, by `artifacts.<platform>.release` and the like, is read by the rule. */
}

/** One for each platform and API. `spec`: providerSpec.value, or spec.template.spec of an infrastructure template. */
export type ImageRule = (spec: JsonObject, question: ImageQuestion) => ImageVerdict;

/** What makes machines. */
export interface MachineResource {
  readonly api: 'machine.openshift.io' | 'cluster.x-k8s.io';
  readonly kind: 'MachineSet' | 'MachineDeployment';
  readonly namespace: string;
  readonly name: string;
}

export type MachineKind = Pick<MachineResource, 'api' | 'kind'>;

/** What becomes of one of them, with the reason; the table of `slipway bootimages` is made of these. */
export interface ResourceVerdict {
  readonly resource: MachineResource;
  readonly platform: Platform | null;
  readonly architecture: Architecture | null;
  readonly verdict: 'current' | 'update' | 'manual' | 'theirs' | 'skipped' | 'failed';
  /** Current and wanted image for people; '' where it is not known. */
  readonly image: string;
  readonly target: string;
  /** Name of the Secret with user data as it is, and as it shall be. */
  readonly stub: { readonly current: string; readonly wanted: string };
  /** In words: which gate keeps it, or what is wrong. '' where nothing is to be said. */
  readonly why: string;
  readonly code: BootImageCode | null;
}

// What the rules of all platforms say in the same words.

/** A field of the spec is not as the platform has it. */
export const badSpec = (path: string, expected: string, found: Json | undefined): ImageVerdict => ({
  type: 'failed',
  image: '',
  code: 'SLW_BOOT_IMAGES_SPEC',
  message: `providerSpec.value.${path}: expected ${expected}, found ${shown(found)}. Correct it, or opt the machines out of boot image updates.`,
});

/** The stream has nothing for the platform on this architecture. */
export const noImage = (image: string, { architecture }: ImageQuestion, place: string): ImageVerdict => ({
  type: 'failed',
  image,
  code: 'SLW_BOOT_IMAGES_ARCH',
  message: `ConfigMap ${BOOT_IMAGES_CONFIG_MAP}: expected ${place} for ${architecture}, found none. The release ships no such boot image: opt the machines out of boot image updates, or use a release that does.`,
});

export const noRegion = (image: string, region: string, regions: readonly string[]): ImageVerdict => ({
  type: 'failed',
  image,
  code: 'SLW_BOOT_IMAGES_REGION',
  message: `ConfigMap ${BOOT_IMAGES_CONFIG_MAP}: expected an image for region ${shown(region)}, found only ${regions.length === 0 ? 'none' : regions.slice(0, 40).join(', ')}. Copy the image to the region yourself, and opt the machines out of boot image updates.`,
});

/** Somebody's own: `why` is a sentence. */
export const notOurs = (image: string, why: string): ImageVerdict => ({
  type: 'theirs',
  image,
  why: `${why} It is left alone; annotation ${bootImageAdoptAnnotation}=true on what makes the machines lets it be replaced.`,
});

/** A field of the template is not as its provider has it. */
export const badTemplate = (path: string, expected: string, found: Json | undefined): ImageVerdict => ({
  type: 'failed',
  image: '',
  code: 'SLW_BOOT_IMAGES_SPEC',
  message: `spec.template.spec.${path} of the template: expected ${expected}, found ${shown(found)}. Refer to a template that has it, or opt the machines out of boot image updates.`,
});
