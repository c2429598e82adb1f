// The input of decisions about boot images: plain data, read from the objects of the cluster.
import {
  type ClusterVersion,
  type Infrastructure,
  type MachineConfigPool,
  type MachineConfiguration,
  type MachineSet,
  type ObjectMeta,
  osStreamAnnotation,
} from '@slipway/api';
import { type ArchitectureContext, detectArchitecture } from './architecture.ts';
import type { Golden, GoldenReading } from './boot-image-config.ts';
import { fieldAt, isJsonObject, shown, textAt, withField, type Json, type JsonObject } from './json.ts';
import { platformDef, platforms } from './platforms/index.ts';
import type { ImagePaths } from './platforms/platform.ts';
import {
  type Architecture,
  type BootImageCode,
  type ImageRule,
  type MachineResource,
  type Platform,
} from './verdict.ts';

export type MachineManager = NonNullable<
  NonNullable<MachineConfiguration['spec']['managedBootImages']>['machineManagers']
>[number];

/** The boot image opt-in of MachineConfiguration `cluster`. */
export interface OptIn {
  readonly uid: string;
  readonly generation: number;
  /** spec.managedBootImages.machineManagers; empty: nothing is opted in. */
  readonly managers: readonly MachineManager[];
}

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

type AuthoritativeApi = 'MachineAPI' | 'ClusterAPI' | 'Migrating';

/** A MachineSet or MachineDeployment. */
export interface ResourceFacts {
  readonly resource: MachineResource;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly owners: readonly Owner[];
  /** spec.template.metadata.labels. */
  readonly machineLabels: Readonly<Record<string, string>>;
  /**
   * status.authoritativeAPI of a MachineSet of the Machine API; for Cluster API, that of the Machine API set with the
   * same name. Null: not specified, or no such set exists, and the resource itself is authoritative.
   */
  readonly authoritativeApi: AuthoritativeApi | null;
  /** spec.paused of a MachineDeployment. */
  readonly isPaused: boolean;
  readonly machine: MachineReading;
  readonly stub: StubReading;
}

/** Where the image is specified, as the reader of its API found it. */
export type MachineReading =
  | {
      readonly ok: true;
      readonly platform: Platform;
      readonly architecture: ArchitectureReading;
      /** providerSpec.value, or spec.template.spec of the infrastructure template. */
      readonly spec: JsonObject;
      readonly rule: ImageRule;
      readonly imagePaths: ImagePaths;
    }
  | {
      readonly ok: false;
      readonly platform: Platform | null;
      readonly code: BootImageCode;
      readonly message: string;
    };

type ArchitectureReading =
  | { readonly ok: true; readonly architecture: Architecture }
  | { readonly ok: false; readonly message: string };

/** The Secret with user data that the resource references, and the desired one. Both '' if it references none. */
export type StubReading =
  | {
      readonly ok: true;
      readonly current: string;
      readonly wanted: string;
      /** A note for the user, such as that a customised Secret is preserved; '' if none. */
      readonly note: string;
      /** The current image may not be able to read it (spec 2 becomes 3): change it only together with the image. */
      readonly needsNewImage: boolean;
    }
  | { readonly ok: false; readonly current: string; readonly message: string };

/** Facts that are the same for all resources. */
export interface ClusterFacts {
  /** Null: MachineConfiguration `cluster` does not exist. */
  readonly optIn: OptIn | null;
  readonly golden: GoldenReading;
  /** Stream of pool worker, from its annotation slipway.dev/os-image-stream; null: unknown. */
  readonly workerStream: string | null;
  /** Infrastructure `cluster`, status.infrastructureName; '' if unknown. */
  readonly infrastructureName: string;
  /** Infrastructure `cluster`, status.platformStatus.azure.cloudName; '' elsewhere. */
  readonly azureCloud: string;
  /** Ids of all images that were ever in the ConfigMap. May lack those that we set. */
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

/** All facts except the image and the stub. `twin`: for Cluster API, the Machine API set with the same name. */
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
    owners: ownerReferences.map(({ apiVersion, kind, name }) => ({ apiVersion, kind, name })),
    machineLabels: object.spec?.template?.metadata?.labels ?? {},
    authoritativeApi: readAuthority(resource, object, twin),
    isPaused: object.spec?.paused === true,
  };
}

function readAuthority(
  { api }: MachineResource,
  { status }: Pick<ReadResource, 'status'>,
  twin: Pick<ReadResource, 'status'> | undefined,
): AuthoritativeApi | null {
  if (api === 'machine.openshift.io') return status?.authoritativeAPI ?? null;
  // The API documents that an empty value means the Machine API.
  return twin === undefined ? null : (twin.status?.authoritativeAPI ?? 'MachineAPI');
}

export const readOptIn = (configuration: MachineConfiguration | undefined): OptIn | null =>
  configuration === undefined
    ? null
    : {
        uid: configuration.metadata.uid ?? '',
        generation: configuration.metadata.generation ?? 0,
        managers: configuration.spec.managedBootImages?.machineManagers ?? [],
      };

/** For messages: `MachineSet openshift-machine-api/a`. */
export const formatResource = ({ kind, namespace, name }: MachineResource): string => `${kind} ${namespace}/${name}`;

/** A unique key within the cluster. */
export const keyOfMachines = ({ api, kind, namespace, name }: MachineResource): string =>
  `${apiWord(api)}-${kind.toLowerCase()}/${namespace}/${name}`;

export const apiWord = (api: MachineResource['api']): 'mapi' | 'capi' =>
  api === 'machine.openshift.io' ? 'mapi' : 'capi';

// The providerSpec of a MachineSet of the Machine API: a field without a schema, in a different format on each
// platform.

/** JSON pointer to the providerSpec in a MachineSet. */
export const PROVIDER_SPEC_POINTER = '/spec/template/spec/providerSpec/value';

const userDataSecretName = ['userDataSecret', 'name'] as const;

type ReadProviderSpec =
  | {
      readonly ok: true;
      readonly spec: JsonObject;
      /** Name of the Secret with the machines' user data; '' if they have none. */
      readonly userDataSecret: string;
    }
  | { readonly ok: false; readonly code: 'SLW_BOOT_IMAGES_SPEC'; readonly message: string };

/** `value`: spec.template.spec.providerSpec.value of the MachineSet. */
export function readProviderSpec(platform: Platform, value: Json | undefined): ReadProviderSpec {
  const { kind, apiVersions, userData = userDataSecretName } = platformDef(platform).providerSpec;
  const path = 'spec.template.spec.providerSpec.value';
  if (!isJsonObject(value)) return refused(path, `an object of kind ${kind}`, value);
  if (value['kind'] !== kind) {
    return refused(`${path}.kind`, `${kind} for platform ${platform}`, value['kind']);
  }
  if (!apiVersions.includes(textAt(value, 'apiVersion'))) {
    return refused(`${path}.apiVersion`, apiVersions.toReversed().join(' or '), value['apiVersion']);
  }
  const name = fieldAt(value, ...userData);
  if (name !== undefined && name !== null && typeof name !== 'string') {
    return refused(`${path}.${userData.join('.')}`, 'the name of a Secret', name);
  }
  return { ok: true, spec: value, userDataSecret: name ?? '' };
}

/** The spec with user data from another Secret. */
export const withUserDataSecret = (platform: Platform, spec: JsonObject, name: string): JsonObject =>
  withField(spec, platformDef(platform).providerSpec.userData ?? userDataSecretName, name);

const refused = (path: string, expected: string, found: Json | undefined): ReadProviderSpec => ({
  ok: false,
  code: 'SLW_BOOT_IMAGES_SPEC',
  message: `${path}: expected ${expected}, found ${shown(found)}. Correct it, or opt the MachineSet out of boot image updates.`,
});

// What a MachineSet of the Machine API specifies for its machines.

/** What is the same for all resources of a cluster. */
export interface MachineContext extends Omit<ArchitectureContext, 'platform'> {
  /** Infrastructure `cluster`, status.platformStatus.type; '' if missing. */
  readonly platformType: string;
}

export interface ReadMachines {
  readonly machine: MachineReading;
  /** Name of the Secret with user data; '' if none is referenced, or the spec is invalid. */
  readonly userData: string;
}

export function readMachineSet(set: MachineSet, context: MachineContext): ReadMachines {
  // The value was parsed from JSON.
  const value = set.spec?.template?.spec?.providerSpec?.value as Json | undefined;
  const platform = detectPlatform(context.platformType, value);
  if (platform === null) return { machine: unknownPlatform(context, value), userData: '' };
  const read = readProviderSpec(platform, value);
  if (!read.ok) return { machine: { ok: false, platform, code: read.code, message: read.message }, userData: '' };
  const { spec, userDataSecret } = read;
  const architecture = detectArchitecture(set, { ...context, platform });
  const { machineApi: rule, providerSpec } = platformDef(platform);
  const { imagePaths } = providerSpec;
  return { machine: { ok: true, platform, architecture, spec, rule, imagePaths }, userData: userDataSecret };
}

/** The Secret with user data, by the kind of the spec; '' if none is referenced, or the spec is invalid. */
export const readUserDataSecret = (set: MachineSet): string => readMachineSet(set, anywhere).userData;
/** The image of the set and where it is specified, by the kind of the spec. */
export const readMachineSpec = (set: MachineSet): MachineReading => readMachineSet(set, anywhere).machine;
const anywhere = { platformType: '', clusterArchitecture: '', ownArchitecture: '' };

/** If the cluster does not specify its platform, the kind of the spec determines it. */
function detectPlatform(type: string, value: Json | undefined): Platform | null {
  const named = platforms.find((platform) => platform === type.toLowerCase());
  return named ?? platforms.find((platform) => readProviderSpec(platform, value).ok) ?? null;
}

function unknownPlatform({ platformType }: MachineContext, value: Json | undefined): MachineReading {
  const found = `found platform "${platformType}" in Infrastructure cluster and kind ${shown(fieldAt(value, 'kind'))} in providerSpec.value`;
  const message = `expected a supported platform (${platforms.join(', ')}), ${found}. Opt the MachineSet out of boot image updates`;
  return { ok: false, platform: null, code: 'SLW_BOOT_IMAGES_PLATFORM', message };
}

// Facts about the cluster, from its objects.

export interface ClusterObjects {
  readonly machineConfiguration: MachineConfiguration | undefined;
  readonly worker: Pick<MachineConfigPool, 'metadata'> | undefined;
  readonly infrastructure: Pick<Infrastructure, 'status'> | undefined;
  readonly clusterVersion: Pick<ClusterVersion, 'status'> | undefined;
}

export function readClusterFacts(
  { machineConfiguration, worker, infrastructure }: ClusterObjects,
  { reading, knownImages }: Pick<Golden, 'reading' | 'knownImages'>,
  now: number,
): ClusterFacts {
  const { infrastructureName = '', platformStatus } = infrastructure?.status ?? {};
  return {
    optIn: readOptIn(machineConfiguration),
    golden: reading,
    workerStream: worker?.metadata.annotations?.[osStreamAnnotation] ?? null,
    infrastructureName,
    azureCloud: platformStatus?.azure?.cloudName ?? '',
    knownImages,
    now,
  };
}

export const readMachineContext = ({ infrastructure, clusterVersion }: ClusterObjects): MachineContext => ({
  platformType: readPlatformType(infrastructure?.status),
  clusterArchitecture: clusterVersion?.status?.desired.architecture ?? '',
  ownArchitecture: kubernetesName[process.arch] ?? process.arch,
});

const readPlatformType = (status: Infrastructure['status']): string =>
  status?.platformStatus?.type ?? status?.platform ?? '';

const kubernetesName: Readonly<Partial<Record<NodeJS.Architecture, string>>> = { x64: 'amd64', ppc64: 'ppc64le' };

/** The release that the cluster was installed with; null: unknown. The history starts with the newest. */
export const readInstallVersion = ({ clusterVersion }: Pick<ClusterObjects, 'clusterVersion'>): string | null =>
  clusterVersion?.status?.history?.at(-1)?.version ?? null;
