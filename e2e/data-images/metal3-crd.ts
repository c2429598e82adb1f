// The CRD of DataImages as Metal3 brings it: it knows neither conditions nor spec.immediate, and drops them without a word.
import { dataImages } from '@slipway/api';
import { until } from '@slipway/testing/wait';
import { expect } from 'vitest';
import { connectToCluster } from '../crd-suites/cluster.ts';
import { crdPath } from '../crd-suites/installed-crd.ts';
import { METAL, type DataImageScene } from './scene.ts';

export async function installMetal3Crd({ kubeconfig, client }: DataImageScene): Promise<void> {
  const cluster = await connectToCluster(kubeconfig);
  const properties = '/spec/versions/0/schema/openAPIV3Schema/properties';
  const fields = ['/status/properties/conditions', '/spec/properties/immediate'];
  const patch = fields.map((field) => ({ op: 'remove', path: `${properties}${field}` }));
  const answer = await cluster.request('PATCH', crdPath('dataimages.metal3.io'), patch);
  await cluster.close();
  expect(answer).toMatchObject({ ok: true });
  const probe = { metadata: { namespace: METAL, name: 'probe' }, spec: { url: 'http://iso.example', immediate: true } };
  await until(async () => {
    const created = await client.create(dataImages, probe);
    await client.delete(dataImages, created.metadata, {});
    expect(created.spec).not.toHaveProperty('immediate');
  });
}
