import { formatCrdName, buildCrd, kinds, type CustomResourceDefinition } from '@slipway/api';
import { untilFound } from '@slipway/testing/wait';
import type { Cluster } from './cluster.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export type InstalledCrd = CustomResourceDefinition & { metadata: { resourceVersion: string } };

export const crdPath = (name: string): string => `${CRDS}/${name}`;

export function collectionPath({ spec }: CustomResourceDefinition, apiVersion: string): string {
  const scope = spec.scope === 'Namespaced' ? '/namespaces/default' : '';
  return `/apis/${apiVersion}${scope}/${spec.names.plural}`;
}

export async function findCrd(cluster: Cluster, name: string): Promise<InstalledCrd | undefined> {
  const answer = await cluster.request<InstalledCrd>('GET', crdPath(name));
  if (answer.ok) return answer.body;
  if (answer.status === 404) return undefined;
  throw new Error(`CRD ${name} cannot be read: ${answer.message}`);
}

/** The CRD with that name. Where it is absent, ours is installed; one that is there is tested as it is. */
export async function ensureCrd(cluster: Cluster, name: string): Promise<InstalledCrd> {
  if ((await findCrd(cluster, name)) === undefined) {
    const kind = kinds.find((candidate) => formatCrdName(candidate) === name);
    if (kind === undefined) throw new Error(`CRD ${name} is not installed, and is none of ours`);
    const created = await cluster.request('POST', CRDS, buildCrd(kind));
    if (!created.ok) throw new Error(`CRD ${name} was refused: ${created.message}`);
  }
  const crd = await untilFound(`reading CRD ${name}`, () => findCrd(cluster, name));
  for (const version of crd.spec.versions) {
    const path = collectionPath(crd, `${crd.spec.group}/${version.name}`);
    await untilFound(`serving ${path}`, async () => (await cluster.request('GET', path)).ok);
  }
  return crd;
}
