// A small fleet whose connections all break at once.
import { readFile, writeFile } from 'node:fs/promises';
import { startTestCluster } from '@slipway/testing/control-plane';
import { startTcpFaultProxy } from '@slipway/testing/tcp-fault-proxy';
import { until } from '@slipway/testing/wait';
import { expect, it } from 'vitest';
import { startDaemonClients } from './daemon-clients.ts';
import { createFleetNodes } from './restart.ts';

const DAEMONS = 50;
const SPREAD_MS = 3000;

it('50 daemons whose connections break together come back one by one, each with one connection', async () => {
  await using cluster = await startTestCluster();
  const { port, kubeconfig } = cluster.controlPlane;
  await using proxy = await startTcpFaultProxy(port);
  const throughProxy = `${kubeconfig}.proxy`;
  await writeFile(throughProxy, (await readFile(kubeconfig, 'utf8')).replace(`127.0.0.1:${port}`, proxy.host));
  const nodeNames = await createFleetNodes(cluster.operator, DAEMONS);
  const clients = await startDaemonClients({ side: 'ours', kubeconfig: throughProxy, nodeNames, spreadMs: SPREAD_MS });
  try {
    await until(() => expect(clients.progress().open).toBe(DAEMONS));
    expect(proxy.open).toBe(DAEMONS);
    const brokenAt = Date.now();
    proxy.cutAll();
    const handshakes: number[] = [];
    await until(() => {
      const progress = clients.progress();
      handshakes.push(...progress.handshakes);
      expect(progress.open).toBe(DAEMONS);
      expect(handshakes).toHaveLength(DAEMONS);
    });
    expect(proxy.open).toBe(DAEMONS);
    // 50 draws, uniform from 0 to 3 s: that all of them are within a second would happen once in 10^22 runs.
    expect(Math.max(...handshakes) - Math.min(...handshakes)).toBeGreaterThan(1000);
    expect(Math.min(...handshakes)).toBeGreaterThanOrEqual(brokenAt);
  } finally {
    await clients.stop();
  }
});
