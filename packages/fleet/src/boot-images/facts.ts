// What decisions about boot images are made from: plain data out of the cluster's objects.
import type { MachineConfiguration, ObjectMeta } from '@slipway/api';
import type { BootImageConfig } from './boot-image-config.ts';
import type { Architecture, BootImageCode, ImageRule, JsonObject, MachineResource, Platform } from './verdict.ts';

export type MachineManager = NonNullable<
  NonNullable<MachineConfiguration['spec']['managedBootImages']>['machineManagers']
>[number];

/** What MachineConfiguration `cluster` says of boot images. */
export interface OptIn {
  readonly uid: string;
  readonly generation: number;
  /** spec.managedBootImages.machineManagers; empty: nothing is opted in. */
  readonly managers: readonly MachineManager[];
}

export interface Owner {
  readonly kind: string;
  readonly name: string;
}

export type AuthoritativeApi = 'MachineAPI' | 'ClusterAPI' | 'Migrating';

/** One resource that makes machines. */
export interface ResourceFacts {
  readonly resource: MachineResource;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly owners: readonly Owner[];
  /** spec.template.metadata.labels. */
  readonly machineLabels: Readonly<Record<string, string>>;
  /**
   * status.authoritativeAPI of a MachineSet of the Machine API; for one of Cluster API, that of the set of the same name
   * in the Machine API. Null: not said, or there is no such set, and the resource decides for itself.
   */
  readonly authoritativeApi: AuthoritativeApi | null;
  /** spec.paused of a MachineDeployment. */
  readonly isPaused: boolean;
  readonly machine: MachineReading;
  readonly stub: StubReading;
}

/** Where its image is, as the reader of its API found it. */
export type MachineReading =
  | {
      readonly ok: true;
      readonly platform: Platform;
      readonly architecture: ArchitectureReading;
      /** providerSpec.value, or spec.template.spec of the infrastructure template. */
      readonly spec: JsonObject;
      readonly rule: ImageRule;
    }
  | {
      readonly ok: false;
      readonly platform: Platform | null;
      readonly code: BootImageCode;
      readonly message: string;
    };

export type ArchitectureReading =
  | { readonly ok: true; readonly architecture: Architecture }
  | { readonly ok: false; readonly message: string };

/** The Secret with user data that it names, and the one that it shall name. Both '' where it names none. */
export type StubReading =
  | {
      readonly ok: true;
      readonly current: string;
      readonly wanted: string;
      /** What people should know of it, such as that a customised one is kept; '' where nothing. */
      readonly note: string;
      /** It is in a spec that the image of today may not read (spec 2 becomes 3): it may only come with a new image. */
      readonly needsNewImage: boolean;
    }
  | { readonly ok: false; readonly current: string; readonly message: string };

/** ConfigMap coreos-bootimages, as parseBootImageConfig reads it. */
export type GoldenReading =
  | { readonly type: 'problem'; readonly code: BootImageCode; readonly message: string }
  | { readonly type: 'valid'; readonly golden: GoldenFacts };

export interface GoldenFacts {
  readonly config: BootImageConfig;
  /** Our counter of its changes. */
  readonly generation: number;
  readonly stamp: StampState;
}

/** Whether the images may be used: stamp.ts says. */
export type StampState =
  | { readonly type: 'stamped' }
  | { readonly type: 'waiting'; readonly why: string; readonly isLate: boolean };

/** What is the same for all resources. */
export interface ClusterFacts {
  /** Null: there is no MachineConfiguration `cluster`. */
  readonly optIn: OptIn | null;
  readonly golden: GoldenReading;
  /** Of pool worker, by its annotation slipway.dev/os-image-stream; null: not known. */
  readonly workerStream: string | null;
  /** Infrastructure `cluster`, status.infrastructureName; '' where it is not known. */
  readonly infrastructureName: string;
  /** Infrastructure `cluster`, status.platformStatus.azure.cloudName; '' elsewhere. */
  readonly azureCloud: string;
  /** Ids of images that were in the ConfigMap at any time. Those that we set ourselves need not be among them. */
  readonly knownImages: ReadonlySet<string>;
  readonly now: number;
}

interface ReadResource {
  readonly metadata: ObjectMeta;
  readonly spec?: {
    readonly paused?: boolean | undefined;
    readonly template?: { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> } };
  };
  readonly status?: { readonly authoritativeAPI?: AuthoritativeApi };
}

/** All but the image and the stub. `twin`: for a set of Cluster API, the one of the same name in the Machine API. */
export function resourceFacts(
  resource: MachineResource,
  object: ReadResource,
  twin?: Pick<ReadResource, 'status'>,
): Omit<ResourceFacts, 'machine' | 'stub'> {
  const { labels = {}, annotations = {}, ownerReferences = [] } = object.metadata;
  return {
    resource,
    labels,
    annotations,
    owners: ownerReferences.map(({ kind, name }) => ({ kind, name })),
    machineLabels: object.spec?.template?.metadata?.labels ?? {},
    authoritativeApi: authorityOf(resource, object, twin),
    isPaused: object.spec?.paused === true,
  };
}

function authorityOf(
  { api }: MachineResource,
  { status }: Pick<ReadResource, 'status'>,
  twin: Pick<ReadResource, 'status'> | undefined,
): AuthoritativeApi | null {
  if (api === 'machine.openshift.io') return status?.authoritativeAPI ?? null;
  // Left empty, the API says, the Machine API decides.
  return twin === undefined ? null : (twin.status?.authoritativeAPI ?? 'MachineAPI');
}

export const optInOf = (configuration: MachineConfiguration | undefined): OptIn | null =>
  configuration === undefined
    ? null
    : {
        uid: configuration.metadata.uid ?? '',
        generation: configuration.metadata.generation ?? 0,
        managers: configuration.spec.managedBootImages?.machineManagers ?? [],
      };

/** For a sentence: `MachineSet openshift-machine-api/a`. */
export const nameOf = ({ kind, namespace, name }: MachineResource): string => `${kind} ${namespace}/${name}`;

/** Tells all resources of a cluster apart. */
export const keyOfMachines = ({ api, kind, namespace, name }: MachineResource): string =>
  `${apiWord(api)}-${kind.toLowerCase()}/${namespace}/${name}`;

export const apiWord = (api: MachineResource['api']): 'mapi' | 'capi' =>
  api === 'machine.openshift.io' ? 'mapi' : 'capi';
