// Templates that we made and that nobody refers to any more go. Those of an installer or of people stay, whatever becomes of them.
import { clusterApiMachineSets, machineDeployments } from '@slipway/api';
import { managedByLabel } from '@slipway/fleet';
import {
  type ClusterApiMachines,
  collectableTemplates,
  GRACE_MS,
  type InfrastructureTemplate,
  isTemplateKind,
  type NamedTemplate,
  referenceOf,
  templateKind,
  templatesOf,
} from '@slipway/fleet/boot-images';
import { again, type Context, type ControllerDef, done, isKubeError, type Resource, type Stored } from '@slipway/kube';
import { clusterApiMachineSetSource, machineDeploymentSource } from './boot-image-reads.ts';
import { allTemplates, type StoredTemplate } from './infrastructure-templates.ts';
import { bootImagesGate, type BootImagesOptions } from './options.ts';

/** Every change of a resource wakes us, and a template stays for longer than this anyway. */
const BETWEEN_RUNS_MS = 60_000;

/** Keys are kinds of templates with the version to ask for. */
export function collectTemplatesController({ clusterApiNamespace: namespace }: BootImagesOptions): ControllerDef {
  const lastRuns = new Map<string, number>();
  const keysOf = (machines: Stored<ClusterApiMachines>): string[] => keyOfTemplates(namespace, machines);
  return {
    name: 'boot-images-templates',
    gate: bootImagesGate,
    reads: [
      { ...clusterApiMachineSetSource(namespace), keysOf },
      { ...machineDeploymentSource(namespace), keysOf },
    ],
    owns: allTemplates.map((resource) => ({ resource })),
    async reconcile(key, context) {
      const now = context.now().getTime();
      const wait = (lastRuns.get(key) ?? 0) + BETWEEN_RUNS_MS - now;
      if (wait > 0 && wait <= BETWEEN_RUNS_MS) return again(wait);
      lastRuns.set(key, now);
      const [kind = '', version = ''] = key.split('/');
      if (!isTemplateKind(kind)) return done();
      return (await collect(templatesOf(kind, version), namespace, context)) > 0 ? again(GRACE_MS) : done();
    },
  };
}

function keyOfTemplates(namespace: string, machines: ClusterApiMachines): string[] {
  const read = referenceOf({ namespace }, machines);
  if (!read.ok) return [];
  const { kind, version } = read.reference;
  return [`${kind}/${version ?? templateKind(kind).versions.at(-1) ?? ''}`];
}

type Templates = Resource<InfrastructureTemplate>;

/** Says how many are left that we made and nobody refers to. */
async function collect(resource: Templates, namespace: string, context: Context): Promise<number> {
  const ours = await ourTemplates(resource, namespace, context);
  if (ours.length === 0) return 0;
  const references = await referencesNow(namespace, context);
  const gone = collectableTemplates(
    ours.map((template) => keptOf(template, resource)),
    references,
    context.now().getTime(),
  );
  for (const { template } of gone) await remove(template, resource, context);
  const inUse = new Set(references.map(({ name }) => name));
  return ours.filter(({ metadata }) => !inUse.has(metadata.name)).length - gone.length;
}

function keptOf(template: StoredTemplate, { kind }: Templates) {
  const { name, namespace = '', labels = {}, creationTimestamp, deletionTimestamp } = template.metadata;
  return { kind, metadata: { name, namespace, labels, creationTimestamp, deletionTimestamp }, template };
}

async function ourTemplates(
  resource: Templates,
  namespace: string,
  { client, signal }: Context,
): Promise<StoredTemplate[]> {
  const labelSelector = `${managedByLabel}=slipway`;
  try {
    return await Array.fromAsync(client.list(resource, { namespace, labelSelector, signal }));
  } catch (error) {
    if (isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED', 'SLW_KUBE_NOT_FOUND')) return [];
    throw error;
  }
}

/** Asked for, not out of a cache: one that was changed a moment ago must not lose its template. */
async function referencesNow(namespace: string, { client, signal }: Context): Promise<NamedTemplate[]> {
  const all: ClusterApiMachines[] = [
    ...(await Array.fromAsync(client.list(clusterApiMachineSets, { namespace, signal }))),
    ...(await Array.fromAsync(client.list(machineDeployments, { namespace, signal }))),
  ];
  return all.flatMap((machines) => {
    const read = referenceOf({ namespace }, machines);
    return read.ok ? [read.reference] : [];
  });
}

async function remove({ metadata }: StoredTemplate, resource: Templates, { client, log }: Context): Promise<void> {
  const { uid, resourceVersion } = metadata;
  await client.delete(resource, metadata, { uid, resourceVersion }).catch((error: unknown) => {
    if (!isKubeError(error, 'SLW_KUBE_NOT_FOUND')) throw error;
  });
  log.info({ kind: resource.kind, template: metadata.name }, 'removed a template that we made and nobody refers to');
}
