// Keeps the boot images and user data of Cluster API's MachineSets and MachineDeployments current. Templates are
// immutable: a new image is a new template, and one patch points the resource at it.
import { machineSets } from '@slipway/api';
import {
  annotationSteps,
  type Change,
  cloneTemplate,
  type ClusterApiMachines,
  readClusterApiUserData,
  describeReplacement,
  resolveSelection,
  INFRASTRUCTURE_GROUP,
  type InfrastructureTemplate,
  readMachineContext,
  type MachineReading,
  type MachineResource,
  machineTemplate,
  makeClone,
  readOptIn,
  type PatchStep,
  readTemplate,
  readTemplateReference,
  readRegion,
  resourceFacts,
  templateKinds,
  templateQuestion,
  toTemplateResource,
} from '@slipway/fleet/boot-images';
import {
  again,
  type Client,
  type ControllerDef,
  isKubeError,
  keyOf,
  type Next,
  type StoreReader,
  type Resource,
  type Stored,
} from '@slipway/kube';
import {
  executeUpdate,
  type MachineOwnerContext,
  machinesController,
  type BootImageDeps,
  type MachineOwnerUpdate,
} from './reconcile.ts';
import {
  type BootImagesOptions,
  clusterApiMachineSetSource,
  readCluster,
  machineDeploymentSource,
  type NamespacedSource,
  providerCrds,
  twinSource,
} from './sources.ts';

/** Templates are not watched, so a missing one is checked again after this time. */
const TEMPLATE_REQUEUE_MS = 30_000;

export const clusterApiControllers = (options: BootImagesOptions, shared: BootImageDeps): ControllerDef[] => {
  const { clusterApiNamespace } = options;
  const sets = { name: 'boot-images-capi-machine-sets', kind: 'MachineSet' } as const;
  const deployments = { name: 'boot-images-machine-deployments', kind: 'MachineDeployment' } as const;
  return [
    buildController({ ...sets, source: clusterApiMachineSetSource(clusterApiNamespace) }, options, shared),
    buildController({ ...deployments, source: machineDeploymentSource(clusterApiNamespace) }, options, shared),
  ];
};

interface ClusterApiKind<T extends ClusterApiMachines> {
  readonly name: string;
  readonly kind: MachineResource['kind'];
  readonly source: NamespacedSource<T>;
}

const buildController = <T extends ClusterApiMachines>(
  made: ClusterApiKind<T>,
  options: BootImagesOptions,
  shared: BootImageDeps,
): ControllerDef =>
  machinesController(
    {
      ...made,
      api: 'cluster.x-k8s.io',
      reads: [
        // The MachineSet of the same name in the Machine API decides which of the two is authoritative.
        {
          ...twinSource(options.machineApiNamespace),
          keysOf: ({ metadata }) => [`${made.source.namespace}/${metadata.name}`],
        },
        { ...providerCrds, keysOf: (_, read) => [...read(made.source.resource).values()].map(keyOf) },
      ],
      owns: allTemplates.map((resource) => ({ resource })),
      userDataOf: (machines) => readClusterApiUserData(machines) ?? '',
      look: (found) => reconcileMachines({ ...found, resource: made.source.resource, options }),
    },
    shared,
  );

interface ClusterApiOwnerContext<T extends ClusterApiMachines> extends MachineOwnerContext<T> {
  readonly resource: Resource<T>;
  readonly options: BootImagesOptions;
}

async function reconcileMachines<T extends ClusterApiMachines>(given: ClusterApiOwnerContext<T>): Promise<Next> {
  const { object: machines, about, options, parts, context } = given;
  const twin = about.kind === 'MachineSet' ? findTwin(about, options, context.read) : undefined;
  const facts = resourceFacts(about, machines, twin);
  const cluster = readCluster(context.read, options.namespace);
  const isEnrolled = resolveSelection(facts, readOptIn(cluster.machineConfiguration)).enrolled;
  const found = isEnrolled ? await findMachines(given) : { machine: notRead, template: null, error: null };
  const update: MachineOwnerUpdate = {
    resource: given.resource,
    object: machines,
    facts: { ...facts, machine: found.machine },
    userData: readClusterApiUserData(machines),
    consequence: describeReplacement(about.kind, machines),
    readError: found.error,
    mayChange: async () => ({ type: 'go' }),
    change: (change, annotations) => pointAtTemplate(given, found.template, change, annotations),
    tidy: async () => {},
  };
  const next = await executeUpdate(update, parts, context);
  const isWaiting = next.type === 'done' && isEnrolled && !found.machine.ok;
  return isWaiting ? again(TEMPLATE_REQUEUE_MS) : next;
}

const findTwin = ({ name }: MachineResource, { machineApiNamespace }: BootImagesOptions, read: StoreReader) =>
  read(machineSets).get(`${machineApiNamespace}/${name}`);

/** For a resource that is not opted in: its template is not read. */
const notRead: MachineReading = { ok: false, platform: null, code: 'SLW_BOOT_IMAGES_TEMPLATE', message: '' };

interface FoundTemplate {
  readonly resource: Resource<InfrastructureTemplate>;
  readonly template: StoredTemplate;
}

interface FoundMachines {
  readonly machine: MachineReading;
  readonly template: FoundTemplate | null;
  /** Why the template could not be read, although it may exist. */
  readonly error: unknown;
}

async function findMachines<T extends ClusterApiMachines>(given: ClusterApiOwnerContext<T>): Promise<FoundMachines> {
  const { object: machines, about, options, context } = given;
  const { read, client, signal } = context;
  const crds = read(providerCrds.resource);
  const readCrdLabels = (plural: string) => crds.get(`${plural}.${INFRASTRUCTURE_GROUP}`)?.metadata.labels ?? {};
  const question = templateQuestion(readTemplateReference(about, machines), readCrdLabels);
  if (!question.ok) return { machine: question.reading, template: null, error: null };
  const resource = toTemplateResource(question.reference.kind, question.version);
  const cluster = readCluster(read, options.namespace);
  const machineContext = { ...readMachineContext(cluster), region: readRegion(cluster.infrastructure) };
  try {
    const template = await findTemplate(client, resource, question.reference);
    const machine = readTemplate(machines, question, template, machineContext);
    return { machine, template: template === undefined ? null : { resource, template }, error: null };
  } catch (error) {
    signal.throwIfAborted();
    const machine = readTemplate(machines, question, undefined, machineContext);
    const message = error instanceof Error ? error.message : String(error);
    return { machine: machine.ok ? machine : { ...machine, message }, template: null, error };
  }
}

/**
 * Creates the template before it is referenced. A kill in between leaves an unused template, which the next run reuses.
 */
async function pointAtTemplate<T extends ClusterApiMachines>(
  { resource, object: machines, context }: ClusterApiOwnerContext<T>,
  found: FoundTemplate | null,
  { spec, userData }: Change,
  annotations: Readonly<Record<string, string>>,
): Promise<void> {
  const clone =
    spec === null || found === null ? null : cloneTemplate(machineTemplate(found.template, found.resource), spec);
  if (clone !== null && found !== null)
    await makeClone(clone, {
      create: async (template) => (await context.write.createIfAbsent(found.resource, template)) !== undefined,
      get: (name) => context.client.get(found.resource, name),
    });
  const base = '/spec/template/spec';
  const steps: PatchStep[] = [
    ...(clone === null
      ? []
      : [{ op: 'replace', path: `${base}/infrastructureRef/name`, value: clone.metadata.name } as const]),
    ...(userData === null ? [] : [{ op: 'add', path: `${base}/bootstrap/dataSecretName`, value: userData } as const]),
    ...annotationSteps(machines.metadata.annotations, annotations),
  ];
  await context.write.jsonPatch(resource, machines, steps);
}

// Infrastructure templates belong to the kinds of other providers: read by name, cloned, never changed.

export type StoredTemplate = Stored<InfrastructureTemplate>;

/** For the list of what a controller may write, where the version does not matter. */
export const allTemplates: readonly Resource[] = templateKinds.map(({ kind }) => toTemplateResource(kind, 'v1beta1'));

/** Undefined if it does not exist, or if the cluster does not serve the kind. */
async function findTemplate(
  client: Client,
  resource: Resource<InfrastructureTemplate>,
  name: { namespace: string; name: string },
): Promise<StoredTemplate | undefined> {
  try {
    return await client.find(resource, name);
  } catch (error) {
    if (isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED')) return undefined;
    throw error;
  }
}
