// What a daemon costs the API server: connections, watches, and how it comes back.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nodeAnnotations } from '@slipway/api';
import { type MachineConfigSpec, specWithFiles } from '@slipway/testing/builders';
import { readSettledAuditLog } from '@slipway/testing/audit';
import { startTcpFaultProxy, type TcpFaultProxy } from '@slipway/testing/tcp-fault-proxy';
import { until } from '@slipway/testing/wait';
import { pickFreePort } from '@slipway/tools/controlplane';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildStateAnnotations, type DaemonCluster, type SimulatedNode, startDaemonCluster } from './daemon/cluster.ts';

const EMPTY: MachineConfigSpec = { config: { ignition: { version: '3.5.0' } } };
/** Free of cost by the built-in policy. */
const PULL_SECRET = '/var/lib/kubelet/config.json';

let cluster: DaemonCluster;
let proxy: TcpFaultProxy;
let born: string;

beforeAll(async () => {
  cluster = await startDaemonCluster();
  proxy = await startTcpFaultProxy(cluster.controlPlane.port);
  born = await cluster.render(EMPTY);
}, 120_000);
afterAll(async () => {
  await cluster.stop();
  await proxy.close();
}, 60_000);

/** A daemon whose connections all go through the proxy. */
async function startThroughProxy(name: string, ...args: string[]): Promise<SimulatedNode> {
  const node = await cluster.makeNode(name, born);
  const path = join(node.root, '..', `${name}.kubeconfig`);
  const text = await readFile(node.kubeconfig, 'utf8');
  await writeFile(path, text.replace(`127.0.0.1:${cluster.controlPlane.port}`, proxy.host));
  await node.annotate({ [nodeAnnotations.desiredConfig]: born });
  node.start('--kubeconfig', path, ...args);
  await node.says(buildStateAnnotations('Done', born));
  return node;
}

/** Of each kind that the daemon watches, by its metric: 1 if the watch is open. */
async function readOpenWatches(probes: string): Promise<string[]> {
  const metrics = await (await fetch(`http://${probes}/metrics`)).text();
  return Array.from(metrics.matchAll(/^slipway_watch_open\{[^}]*\} (\d)$/gm), ([, isOpen = '']) => isOpen);
}

describe('a daemon', () => {
  it('has one connection and two watches: its Node and its MachineConfigNode', async () => {
    const node = await startThroughProxy('frugal');
    expect({ open: proxy.open, opened: proxy.opened }).toEqual({ open: 1, opened: 1 });
    await node.stop();
    const requests = await readSettledAuditLog(cluster.controlPlane.auditLog, `system:node:${node.name}`);
    // A server that has just got a kind answers 429 to a watch of it for a moment.
    const accepted = requests.filter(({ verb, code }) => verb === 'watch' && code === 200);
    const watches = accepted.map(({ resource }) => resource);
    expect(watches.toSorted()).toEqual(['machineconfignodes', 'nodes']);
  });

  it('whose connection breaks comes back with one, and has missed nothing', async () => {
    const node = await startThroughProxy('returning');
    const before = proxy.opened;
    proxy.cutAll();
    const target = await cluster.render(specWithFiles({ [PULL_SECRET]: '{"auths":{}}' }));
    await node.annotate({ [nodeAnnotations.desiredConfig]: target });
    await node.says(buildStateAnnotations('Done', target));
    await until(() => expect(proxy.open).toBe(1), 'process');
    expect(proxy.opened - before).toBe(1);
    await node.stop();
  });

  it('whose connection breaks waits a random time before it comes back, so that a fleet does not come back in one instant', async () => {
    const probes = `127.0.0.1:${await pickFreePort()}`;
    const node = await startThroughProxy('patient', '--probes', probes);
    const waits: number[] = [];
    // The backoff alone stays below a second for four breaks. A wait of up to 10 s exceeds it in nine of ten cases.
    while (waits.length < 4 && Math.max(0, ...waits) < 1000) {
      const before = proxy.opened;
      proxy.cutAll();
      const cutAt = performance.now();
      // Not the first connection: a request of the daemon opens one without a wait.
      await until(async () => {
        expect(proxy.opened).toBeGreaterThan(before);
        expect(await readOpenWatches(probes)).toEqual(['1', '1']);
      }, 'reaction');
      waits.push(performance.now() - cutAt);
    }
    expect(Math.max(...waits)).toBeGreaterThan(1000);
    await node.stop();
  });
});
