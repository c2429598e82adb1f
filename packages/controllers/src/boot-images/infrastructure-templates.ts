// Infrastructure templates of Cluster API: of kinds that others bring, asked for by name, cloned, never changed.
import { type InfrastructureTemplate, templateKinds, templatesOf } from '@slipway/fleet/boot-images';
import { type Client, isKubeError, type Resource, type Stored } from '@slipway/kube';

export type StoredTemplate = Stored<InfrastructureTemplate>;

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
