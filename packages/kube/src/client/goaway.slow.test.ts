// A real API server that moves clients to other connections by chance, as those behind a load balancer do.
import { randomUUID } from 'node:crypto';
import { startTcpFaultProxy } from '@slipway/testing/tcp-fault-proxy';
import { until } from '@slipway/testing/wait';
import { startControlPlane } from '@slipway/tools/controlplane';
import { expect, it } from 'vitest';
import { createInformer } from '../watch/informer.ts';
import { createClient } from './client.ts';
import { loadKubeconfig } from './kubeconfig.ts';
import type { KubeObject, Resource } from './resource.ts';
import { createTransport } from './transport.ts';

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}
const core = { group: '', version: 'v1', namespaced: true };
const configMaps: Resource<ConfigMap> = { ...core, kind: 'ConfigMap', plural: 'configmaps' };
const OBJECTS = 400;

it('an API server that sends GOAWAY after one request in fifty: every write is made once, every event is heard', async () => {
  const controlPlane = await startControlPlane({ apiServerFlags: ['--goaway-chance=0.02'] });
  try {
    await using proxy = await startTcpFaultProxy(controlPlane.port);
    const access = await loadKubeconfig([controlPlane.kubeconfig]);
    const transport = createTransport({ ...access, server: `https://${proxy.host}` }, { multiplex: true });
    const client = createClient(transport);
    const problems: unknown[] = [];
    const informer = createInformer(transport, {
      resource: configMaps,
      namespace: 'default',
      onProblem: (error) => problems.push(error),
    });
    const heard = new Map<string, number>();
    informer.onChange((change) => {
      if (change.type !== 'added') return;
      const { name } = change.object.metadata;
      heard.set(name, (heard.get(name) ?? 0) + 1);
    });
    const stop = new AbortController();
    informer.start(stop.signal);
    await informer.synced;
    const names = Array.from({ length: OBJECTS }, () => `goaway-${randomUUID()}`);
    for (const name of names) {
      const metadata = { name, namespace: 'default' };
      // Were one of them sent twice, the second would be refused: the object exists.
      await client.create(configMaps, { metadata, data: { text: 'x'.repeat(1000) } });
    }
    await until(() => expect(names.filter((name) => heard.get(name) !== 1)).toEqual([]));
    expect(problems).toEqual([]);
    expect(proxy.opened).toBeGreaterThan(1);
    stop.abort();
    await transport.close();
  } finally {
    await controlPlane.stop();
  }
}, 180_000);
