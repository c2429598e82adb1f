// The API server's CA is replaced under everything that runs: daemon, server and controllers, each a process.
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DEFAULT_NAMESPACE, machineConfigPools, machineConfigs, nodeAnnotations, nodes, secrets } from '@slipway/api';
import { serverSecrets } from '@slipway/fleet';
import { type Client, createClient, createTransport, loadKubeconfig } from '@slipway/kube';
import { machineConfig, specWithFiles } from '@slipway/testing/builders';
import { operator } from '@slipway/testing/control-plane';
import { type RunningProcess, startSlipway } from '@slipway/testing/slipway-process';
import { until } from '@slipway/testing/wait';
import { pickFreePort } from '@slipway/tools/controlplane';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { type DaemonCluster, render, type SimulatedNode, startDaemonCluster } from './daemon/cluster.ts';

const { currentConfig, desiredConfig, state } = nodeAnnotations;
/** Free of cost by the built-in policy: no drain and no reboot. */
const PULL_SECRET = '/var/lib/kubelet/config.json';

/** On an idle machine it takes half a minute. */
const FOLLOWED_WITHIN = 120_000;

let cluster: DaemonCluster;
let directory: string;
let caFile: string;
const programs: RunningProcess[] = [];

beforeAll(async () => {
  cluster = await startDaemonCluster();
  directory = await mkdtemp(join(tmpdir(), 'slipway-rotation-'));
  caFile = join(directory, 'ca.crt');
  await trust(cluster.controlPlane.ca);
}, 120_000);
afterAll(async () => {
  await Promise.all(programs.map((program) => program.stop()));
  await cluster.stop();
  await rm(directory, { recursive: true });
}, 60_000);

/** As tools that rotate certificates do it: readers see the old file or the new one. */
async function trust(pem: string): Promise<void> {
  await writeFile(`${caFile}.new`, pem);
  await rename(`${caFile}.new`, caFile);
}

/** The same kubeconfig, with the CA in a file of its own. */
async function withCaFile(kubeconfig: string, name: string): Promise<string> {
  const config = parse(await readFile(kubeconfig, 'utf8')) as { clusters: { cluster: Record<string, string> }[] };
  for (const { cluster: each } of config.clusters) {
    delete each['certificate-authority-data'];
    each['certificate-authority'] = caFile;
  }
  const path = join(directory, name);
  await writeFile(path, stringify(config));
  return path;
}

async function servedBy(port: number, token: string): Promise<string> {
  const headers = { accept: 'application/vnd.coreos.ignition+json;version=3.5.0', authorization: `Bearer ${token}` };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const where = { host: '127.0.0.1', port, path: '/config/worker', headers, rejectUnauthorized: false, agent: false };
  get(where, resolve).on('error', reject);
  return text(await promise);
}

async function readToken(client: Client): Promise<string> {
  const secret = await client.get(secrets, { namespace: DEFAULT_NAMESPACE, name: serverSecrets.tokens });
  const [first] = JSON.parse(Buffer.from(secret.data?.['worker'] ?? '', 'base64').toString()) as { token: string }[];
  if (first === undefined) throw new Error('no token yet');
  return first.token;
}

it('daemon, server and controllers follow a new CA without a restart, and miss no change', async () => {
  const { controlPlane } = cluster;
  const kubeconfig = await withCaFile(await controlPlane.kubeconfigFor(operator), 'operator.kubeconfig');
  const client = createClient(createTransport(await loadKubeconfig([kubeconfig])));
  const node = await startDaemon();
  const port = await pickFreePort();
  const url = `https://127.0.0.1:${port}`;
  const probes = ['--probes', '127.0.0.1:0'];
  programs.push(
    startSlipway('controller', '--kubeconfig', kubeconfig, '--server-url', url, '--no-leader-elect', ...probes),
    startSlipway('server', '--kubeconfig', kubeconfig, '--listen', `127.0.0.1:${port}`, ...probes),
  );
  const rendered = async () => {
    const { name = '' } = (await client.get(machineConfigPools, { name: 'worker' })).spec.configuration ?? {};
    return client.get(machineConfigs, { name });
  };
  const token = await until(() => readToken(client));
  // The first config may be replaced once the built-in MachineConfigs are there.
  await until(async () => expect(await servedBy(port, token)).toContain((await rendered()).metadata.name));

  const next = await controlPlane.rotateAuthority();
  const rotated = performance.now();
  for (const program of programs) await program.saw(/SLW_KUBE_TLS/);
  await trust(`${controlPlane.ca}\n${next}`);
  // Changes for all three: the controllers render one and the server serves it, the daemon applies another.
  const spec = specWithFiles({ [PULL_SECRET]: '{"auths":{}}' });
  await until(() => client.create(machineConfigs, machineConfig('50-after', 'worker', spec)));
  const target = await render(client, spec);
  const body = { metadata: { annotations: { [desiredConfig]: target } } };
  await client.patch(nodes, { name: node.name }, { type: 'merge', body }, {});
  const after = await until(async () => {
    const { metadata, spec: found } = await rendered();
    expect(JSON.stringify(found)).toContain(PULL_SECRET);
    return metadata.name;
  }, FOLLOWED_WITHIN);
  await until(async () => {
    const { annotations } = (await client.get(nodes, { name: node.name })).metadata;
    expect(annotations).toMatchObject({ [currentConfig]: target, [state]: 'Done' });
  }, FOLLOWED_WITHIN);
  await until(async () => expect(await servedBy(port, token)).toContain(after), FOLLOWED_WITHIN);
  console.log(
    `all follow the new CA ${((performance.now() - rotated) / 1000).toFixed(1)} s after the rotation; goal: 60 s`,
  );
  for (const { child } of programs) expect(child.exitCode).toBeNull();
  await client.transport.close();
}, 400_000);

/** It is in no pool: only the test gives it configs. Called before the controllers start, which would give it others. */
async function startDaemon(): Promise<SimulatedNode> {
  const config = await cluster.render({ config: { ignition: { version: '3.5.0' } } });
  const node = await cluster.makeNode('rotated', config);
  const metadata = {
    labels: { 'node-role.kubernetes.io/worker': null },
    annotations: { [desiredConfig]: config },
  };
  await cluster.operator.patch(nodes, { name: node.name }, { type: 'merge', body: { metadata } }, {});
  programs.push(node.start('--kubeconfig', await withCaFile(node.kubeconfig, 'node.kubeconfig')));
  await node.says({ [currentConfig]: config, [state]: 'Done' });
  return node;
}
