import { untilFound } from '@slipway/testing/wait';
import type { Cluster } from './cluster.ts';
import { collectionPath, crdPath, findCrd, type InstalledCrd } from './installed-crd.ts';
import type { SuiteObject } from './suite.ts';

// A field that takes one value only: the server names that value once it works with the changed schema.
const MARKER = 'suiteMarker';

const markerOps = (crd: InstalledCrd, value: string): object[] =>
  crd.spec.versions.map((_, index) => ({
    op: 'add',
    path: `/spec/versions/${index}/schema/openAPIV3Schema/properties/${MARKER}`,
    value: { type: 'string', enum: [value] },
  }));

async function patchCrd(cluster: Cluster, name: string, patches: object[]): Promise<void> {
  const answer = await cluster.request('PATCH', crdPath(name), patches);
  if (!answer.ok) throw new Error(`CRD ${name} did not take the patch: ${answer.message}`);
}

async function inForce(cluster: Cluster, crd: InstalledCrd, probe: SuiteObject, value: string): Promise<void> {
  const path = `${collectionPath(crd, probe.apiVersion)}?dryRun=All`;
  const body = { ...probe, metadata: { name: 'schema-probe' }, [MARKER]: 'none' };
  await untilFound(`the change of CRD ${crd.metadata.name}`, async () => {
    const answer = await cluster.request('POST', path, body);
    return !answer.ok && answer.message.includes(value) ? true : undefined;
  });
}

/** Does something under the schema as it was at an earlier time, then brings the present one back. */
export async function underEarlierSchema<T>(
  cluster: Cluster,
  crd: InstalledCrd,
  patches: object[],
  probe: SuiteObject,
  action: () => Promise<T>,
): Promise<T> {
  if (patches.length === 0) return action();
  const name = crd.metadata.name;
  try {
    await patchCrd(cluster, name, [...patches, ...markerOps(crd, 'earlier-schema')]);
    await inForce(cluster, crd, probe, 'earlier-schema');
    return await action();
  } finally {
    await patchCrd(cluster, name, [
      { op: 'replace', path: '/spec', value: crd.spec },
      ...markerOps(crd, 'present-schema'),
    ]);
    await inForce(cluster, crd, probe, 'present-schema');
    await patchCrd(cluster, name, [{ op: 'replace', path: '/spec', value: crd.spec }]);
    await untilFound(`the present schema of ${name}`, async () => {
      const restored = await findCrd(cluster, name);
      return JSON.stringify(restored?.spec.versions) === JSON.stringify(crd.spec.versions) ? true : undefined;
    });
  }
}
