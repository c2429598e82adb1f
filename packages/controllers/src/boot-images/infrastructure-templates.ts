// Infrastructure templates of Cluster API: of kinds that others bring, asked for by name, cloned, never changed.
import {
  infrastructureGroup,
  isJsonObject,
  isSameClone,
  type JsonObject,
  type MachineTemplate,
  templateKind,
  type TemplateKindName,
  templateKinds,
} from '@slipway/fleet/boot-images';
import { type Client, isKubeError, type KubeObject, type Resource, type Stored } from '@slipway/kube';
import { fieldManager } from './options.ts';

export interface InfrastructureTemplate extends KubeObject {
  spec?: unknown;
}
export type StoredTemplate = Stored<InfrastructureTemplate>;

export const templatesOf = (kind: TemplateKindName, version: string): Resource<InfrastructureTemplate> => ({
  group: infrastructureGroup,
  version,
  kind,
  plural: templateKind(kind).plural,
  namespaced: true,
});

/** For what a controller may write: the version does not matter there. */
export const allTemplates: readonly Resource[] = templateKinds.map(({ kind }) => templatesOf(kind, 'v1beta1'));

/** Undefined where there is none, or nobody serves the kind. */
export async function findTemplate(
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

/** As whoever clones it sees it. */
export function machineTemplate(
  { metadata, spec }: StoredTemplate,
  { group, version, kind }: Resource,
): MachineTemplate {
  const { name, namespace = '', labels, annotations, ownerReferences } = metadata;
  return {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: {
      name,
      namespace,
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
      ...(ownerReferences !== undefined && { ownerReferences }),
    },
    spec: isJson(spec) ? spec : {},
  };
}

/** It came out of JSON. */
const isJson = (value: unknown): value is JsonObject => isJsonObject(value);

/** There is something else under the name of a clone. */
export class CloneTakenError extends Error {
  readonly code = 'SLW_BOOT_IMAGES_TEMPLATE';

  constructor({ kind, metadata }: MachineTemplate) {
    super(
      `${kind} ${metadata.namespace}/${metadata.name}: expected our clone of a template with the new image, found something else of that name. Delete it, or give it another name`,
    );
    this.name = 'CloneTakenError';
  }
}

/** Makes it; one that is there is from a run that was killed before it was referred to. */
export async function makeClone(
  client: Client,
  resource: Resource<InfrastructureTemplate>,
  clone: MachineTemplate,
): Promise<void> {
  const { name, namespace, labels = {}, annotations = {}, ownerReferences = [] } = clone.metadata;
  const metadata = {
    name,
    namespace,
    labels: { ...labels },
    annotations: { ...annotations },
    ownerReferences: [...ownerReferences],
  };
  try {
    await client.create(resource, { metadata, spec: clone.spec }, { fieldManager });
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_ALREADY_EXISTS')) throw error;
    const existing = await client.get(resource, clone.metadata);
    const isIt =
      existing.metadata.deletionTimestamp === undefined && isSameClone(machineTemplate(existing, resource), clone);
    if (!isIt) throw new CloneTakenError(clone);
  }
}
