import { machineConfigs, namespaces, nodes, osImageStreams } from '@slipway/api';
import { createInformer, type Resource } from '@slipway/kube';
import { isWrite, readSettledAuditLog } from '@slipway/testing/audit';
import { connect, startInstalledControlPlane } from '@slipway/testing/control-plane';
import { customResourceDefinitions } from '@slipway/testing/resources';
import { until } from '@slipway/testing/wait';
import { expect, it } from 'vitest';

const streamsCrd = { name: 'osimagestreams.machineconfiguration.openshift.io' };

it('a control plane that has served one test is as new for the next', async () => {
  const first = await startInstalledControlPlane();
  const admin = await connect(first.kubeconfig);
  await admin.create(namespaces, { metadata: { name: 'left-behind' } });
  await admin.create(nodes, { metadata: { name: 'left-behind', finalizers: ['example.com/never-removed'] } });
  await admin.create(machineConfigs, { metadata: { name: 'left-behind' }, spec: {} });
  await admin.delete(customResourceDefinitions, streamsCrd, {});
  const labels = { changed: 'yes' };
  await admin.patch(namespaces, { name: 'default' }, { type: 'merge', body: { metadata: { labels } } }, {});
  await admin.transport.close();
  expect(await readSettledAuditLog(first.auditLog, 'admin')).toContainEqual(
    expect.objectContaining({ text: 'create nodes left-behind 201' }),
  );
  await first.stop();

  const second = await startInstalledControlPlane();
  expect(second.url).toBe(first.url);
  const next = await connect(second.kubeconfig);
  const watched = createInformer(next.transport, { resource: nodes });
  const watching = new AbortController();
  watched.start(watching.signal);
  await watched.synced;
  expect(watched.store.size).toBe(0);
  watching.abort();
  for (const resource of [namespaces, nodes, machineConfigs] as Resource[]) {
    expect(await next.find(resource, { name: 'left-behind' })).toBeUndefined();
  }
  expect((await next.get(namespaces, { name: 'default' })).metadata.labels).not.toHaveProperty('changed');
  await until(() => next.list(osImageStreams).next());
  // What the test before has used up can be had again, and only that is in the log.
  await next.create(nodes, { metadata: { name: 'left-behind' } });
  const written = (await readSettledAuditLog(second.auditLog, 'admin')).filter(isWrite);
  expect(written.map(({ text }) => text)).toEqual(['create nodes left-behind 201']);
  await next.transport.close();
  await second.stop();
});

it('one whose API server was killed serves nobody else', async () => {
  const first = await startInstalledControlPlane();
  await first.killApiServer();
  await first.stop();
  const second = await startInstalledControlPlane();
  expect(second.url).not.toBe(first.url);
  await second.stop();
});
