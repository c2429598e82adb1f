// Deletes what we created and nothing references any longer: copies of customised stubs, and clones of templates.
import { clusterApiMachineSets, machineDeployments, machineSets, secrets } from '@slipway/api';
import { MANAGED_BY_LABEL } from '@slipway/fleet';
import {
  type ClusterApiMachines,
  readClusterApiUserData,
  collectableTemplates,
  GRACE_MS,
  type InfrastructureTemplate,
  isCollectableCopy,
  isTemplateKind,
  type NamedTemplate,
  readTemplateReference,
  templateKind,
  type TemplateKindName,
  toTemplateResource,
  readUserDataSecret,
} from '@slipway/fleet/boot-images';
import {
  again,
  type Context,
  type ControllerDef,
  done,
  isKubeError,
  type KubeObject,
  parseKey,
  type StoreReader,
  type Resource,
  type Source,
  type Stored,
} from '@slipway/kube';
import { allTemplates, type StoredTemplate } from './cluster-api-controller.ts';
import {
  BOOT_IMAGES_GATE,
  type BootImagesOptions,
  clusterApiMachineSetSource,
  machineDeploymentSource,
  machineSetSource,
  type NamespacedSource,
  stubSource,
} from './sources.ts';

// Deletes our copies of customised stubs that nothing references. They stay for a while, because a machine that is
// being created may still read one. The time is only in memory: a restart makes it longer, never shorter.

export const UNUSED_MS = 60 * 60_000;
const BY_USER_DATA = 'user-data';

/** One per API: without Cluster API, its kinds are never read. */
export const collectCopiesControllers = (options: BootImagesOptions): ControllerDef[] => [
  copiesController('boot-images-stub-copies', options.machineApiNamespace, [
    buildReferringKind(machineSetSource(options.machineApiNamespace), readUserDataSecret),
  ]),
  copiesController('boot-images-capi-stub-copies', options.clusterApiNamespace, [
    buildReferringKind(clusterApiMachineSetSource(options.clusterApiNamespace), readClusterApiUserData),
    buildReferringKind(machineDeploymentSource(options.clusterApiNamespace), readClusterApiUserData),
  ]),
];

interface ReferringKind {
  readonly source: Source;
  isReferredTo(this: void, secret: string, read: StoreReader): boolean;
}

function buildReferringKind<T extends KubeObject>(
  source: NamespacedSource<T>,
  nameIn: (machines: T) => string | null,
): ReferringKind {
  const namesIn = (machines: T): string[] => [nameIn(machines) ?? ''];
  const own: Source<T> = {
    ...source,
    indexes: { [BY_USER_DATA]: namesIn },
    keysOf: (machines) => namesIn(machines).map((name) => `${source.namespace}/${name}`),
  };
  return { source: own, isReferredTo: (secret, read) => read(source.resource).hasIndexed(BY_USER_DATA, secret) };
}

function copiesController(name: string, namespace: string, kinds: readonly ReferringKind[]): ControllerDef {
  const unusedSince = new Map<string, number>();
  return {
    name,
    gate: BOOT_IMAGES_GATE,
    reads: [stubSource(namespace), ...kinds.map(({ source }) => source)],
    owns: [{ resource: secrets }],
    async reconcile(key, context) {
      const { read, now } = context;
      const secret = read(secrets).get(key);
      const isUsed = kinds.some(({ isReferredTo }) => isReferredTo(parseKey(key).name, read));
      if (secret === undefined || isUsed || !isCollectableCopy(secret.metadata)) {
        unusedSince.delete(key);
        return done();
      }
      const since = unusedSince.get(key) ?? now().getTime();
      unusedSince.set(key, since);
      const wait = since + UNUSED_MS - now().getTime();
      if (wait > 0) return again(wait);
      const { name } = secret.metadata;
      if (await isReferencedNow(name, namespace, context)) return done();
      await context.write.remove(secrets, secret);
      context.log.info({ secret: name }, 'deleted an unused copy of a customised stub');
      return done();
    },
  };
}

/** Reads live, not from a cache, and both APIs, because they may share a namespace. */
async function isReferencedNow(secret: string, namespace: string, { client, signal }: Context): Promise<boolean> {
  const all = async <T extends KubeObject>(resource: Resource<T>): Promise<Stored<T>[]> => {
    try {
      return await Array.fromAsync(client.list(resource, { namespace, signal }));
    } catch (error) {
      if (!isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED')) throw error;
      return [];
    }
  };
  const names = [
    ...(await all(machineSets)).map(readUserDataSecret),
    ...(await all(clusterApiMachineSets)).map(readClusterApiUserData),
    ...(await all(machineDeployments)).map(readClusterApiUserData),
  ];
  return names.includes(secret);
}

// Deletes templates that we created and nothing references. Templates of installers and users always stay.

/** Every change of a resource triggers a run, and templates outlive this interval anyway. */
const BETWEEN_RUNS_MS = 60_000;

/** Keys are template kinds. */
export function collectTemplatesController({ clusterApiNamespace: namespace }: BootImagesOptions): ControllerDef {
  const listKeys = (machines: Stored<ClusterApiMachines>): string[] => {
    const read = readTemplateReference({ namespace }, machines);
    return read.ok ? [read.reference.kind] : [];
  };
  return {
    name: 'boot-images-templates',
    gate: BOOT_IMAGES_GATE,
    reads: [
      { ...clusterApiMachineSetSource(namespace), keysOf: listKeys },
      { ...machineDeploymentSource(namespace), keysOf: listKeys },
    ],
    owns: allTemplates.map((resource) => ({ resource })),
    minIntervalMs: BETWEEN_RUNS_MS,
    async reconcile(kind, context) {
      if (!isTemplateKind(kind)) return done();
      return (await collect(inAnyVersion(kind), namespace, context)) > 0 ? again(GRACE_MS) : done();
    },
  };
}

/** A reference of v1beta2 names no version, and the provider may not serve the newest that we know. */
function inAnyVersion(kind: TemplateKindName): Templates {
  const [oldest = '', ...newer] = templateKind(kind).versions;
  return { ...toTemplateResource(kind, oldest), newerVersions: newer.toReversed() };
}

type Templates = Resource<InfrastructureTemplate>;

/** Returns how many unused templates of ours are left. */
async function collect(resource: Templates, namespace: string, context: Context): Promise<number> {
  const ours = await listOwnTemplates(resource, namespace, context);
  if (ours.length === 0) return 0;
  const references = await listReferences(namespace, context);
  const gone = collectableTemplates(
    ours.map((template) => toKeptTemplate(template, resource)),
    references,
    context.now().getTime(),
  );
  for (const { template } of gone) {
    await context.write.remove(resource, template);
    const about = { kind: resource.kind, template: template.metadata.name };
    context.log.info(about, 'deleted an unused template that Slipway created');
  }
  const inUse = new Set(references.map(({ name }) => name));
  return ours.filter(({ metadata }) => !inUse.has(metadata.name)).length - gone.length;
}

function toKeptTemplate(template: StoredTemplate, { kind }: Templates) {
  const { name, namespace = '', labels = {}, creationTimestamp, deletionTimestamp } = template.metadata;
  return { kind, metadata: { name, namespace, labels, creationTimestamp, deletionTimestamp }, template };
}

async function listOwnTemplates(
  resource: Templates,
  namespace: string,
  { client, signal }: Context,
): Promise<StoredTemplate[]> {
  const labelSelector = `${MANAGED_BY_LABEL}=slipway`;
  try {
    return await Array.fromAsync(client.list(resource, { namespace, labelSelector, signal }));
  } catch (error) {
    if (isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED', 'SLW_KUBE_NOT_FOUND')) return [];
    throw error;
  }
}

/** Reads live, not from a cache: a resource that changed a moment ago must not lose its template. */
async function listReferences(namespace: string, { client, signal }: Context): Promise<NamedTemplate[]> {
  const all: ClusterApiMachines[] = [
    ...(await Array.fromAsync(client.list(clusterApiMachineSets, { namespace, signal }))),
    ...(await Array.fromAsync(client.list(machineDeployments, { namespace, signal }))),
  ];
  return all.flatMap((machines) => {
    const read = readTemplateReference({ namespace }, machines);
    return read.ok ? [read.reference] : [];
  });
}
