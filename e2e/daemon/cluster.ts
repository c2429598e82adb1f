// A cluster with nodes that are simulated machines: real control plane, real daemons, directories in place of disks.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type MachineConfig, machineConfigs, nodeAnnotations, nodes, poolLabel } from '@slipway/api';
import { createDisk, ENCAPSULATED, type FileSystem } from '@slipway/daemon';
import { canonicalJson, renderedName } from '@slipway/fleet';
import { type Client, createClient, createTransport, loadKubeconfig } from '@slipway/kube';
import { makeSimulatedMachine } from '@slipway/simulator';
import { bundleDaemon } from '@slipway/tools/bundle';
import type { ControlPlane, ControlPlaneOptions } from '@slipway/tools/controlplane';
import { expect, vi } from 'vitest';
import { startInstalledControlPlane } from '../installed-control-plane.ts';
import { operator } from '../operator.ts';
import { endOf, type SlipwayProcess, startProgram } from '../slipway-process.ts';

const entry = resolve(import.meta.dirname, '../../packages/slipway/src/testing/simulated-daemon.ts');

export type Spec = NonNullable<MachineConfig['spec']>;

export interface SimulatedNode {
  readonly name: string;
  readonly root: string;
  readonly files: FileSystem;
  kubeconfig: string;
  /** Starts the daemon of this node; the one before has to have ended. */
  start(...args: string[]): SlipwayProcess;
  stop(signal?: NodeJS.Signals): Promise<void>;
  annotations(): Promise<Readonly<Record<string, string>>>;
  /** As a controller does it. */
  annotate(annotations: Readonly<Record<string, string | null>>): Promise<void>;
  /** Waits until the node says this. */
  says(expected: object, timeoutMs?: number): Promise<Readonly<Record<string, string>>>;
}

export interface DaemonCluster {
  readonly controlPlane: ControlPlane;
  readonly operator: Client;
  /** A rendered config of the pool worker; resolves to its name. */
  render(spec: Spec): Promise<string>;
  /** A machine that was born with this config, and its Node. */
  makeNode(name: string, config: string): Promise<SimulatedNode>;
  stop(): Promise<void>;
}

export async function startDaemonCluster(options: Pick<ControlPlaneOptions, 'audit'> = {}): Promise<DaemonCluster> {
  const controlPlane = await startInstalledControlPlane(options);
  const directory = await mkdtemp(join(tmpdir(), 'slipway-daemon-'));
  const client = createClient(createTransport(await loadKubeconfig([await controlPlane.kubeconfigFor(operator)])));
  // As it is shipped, and it starts in a fraction of the time.
  const { path: program } = await bundleDaemon({ entry, directory });
  const running = new Set<SimulatedNode>();
  return {
    controlPlane,
    operator: client,
    render: (spec) => render(client, spec),
    async makeNode(name, config) {
      const node = await makeNode({ controlPlane, client, directory, program }, name, config);
      running.add(node);
      return node;
    },
    async stop() {
      for (const node of running) await node.stop();
      await client.transport.close();
      await controlPlane.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function render(client: Client, spec: Spec): Promise<string> {
  const name = await renderedName('worker', new TextEncoder().encode(canonicalJson(spec)));
  if ((await client.find(machineConfigs, { name })) === undefined) {
    await client.create(machineConfigs, { metadata: { name, labels: { [poolLabel]: 'worker' } }, spec });
  }
  return name;
}

interface Place {
  readonly controlPlane: ControlPlane;
  readonly client: Client;
  readonly directory: string;
  readonly program: string;
}

async function makeNode(
  { controlPlane, client, directory, program }: Place,
  name: string,
  config: string,
): Promise<SimulatedNode> {
  const root = join(directory, name);
  const files = await makeDisk(root);
  const { spec } = await client.get(machineConfigs, { name: config });
  const encapsulated = JSON.stringify({
    apiVersion: 'machineconfiguration.openshift.io/v1',
    kind: 'MachineConfig',
    metadata: { name: config },
    spec,
  });
  const owners = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  await files.createFile(ENCAPSULATED, { ...owners, mode: 0o600, bytes: new TextEncoder().encode(encapsulated) });
  const born = await endOf(startProgram(program, ['daemon', 'first-boot', '--root', root, '--simulate']));
  expect(born).toMatchObject({ code: 0 });
  await client.create(nodes, { metadata: { name, labels: { 'node-role.kubernetes.io/worker': '' } } });
  const kubeconfig = await controlPlane.kubeconfigFor({ user: `system:node:${name}`, groups: ['system:nodes'], name });
  const annotations = async () => (await client.get(nodes, { name })).metadata.annotations ?? {};
  let daemon: SlipwayProcess | undefined;
  return {
    name,
    root,
    files,
    kubeconfig,
    start(...args) {
      const own = ['--node', name, '--root', root, '--simulate', '--kubeconfig', kubeconfig, '--probes', '127.0.0.1:0'];
      daemon = startProgram(program, ['daemon', ...own, ...args]);
      return daemon;
    },
    async stop(signal = 'SIGTERM') {
      if (daemon === undefined) return;
      daemon.child.kill(signal);
      await daemon.exit;
      daemon = undefined;
    },
    annotations,
    async annotate(changed) {
      await client.patch(nodes, { name }, { type: 'merge', body: { metadata: { annotations: changed } } }, {});
    },
    async says(expected, timeoutMs = 20_000) {
      return vi.waitFor(
        async () => {
          const said = await annotations();
          expect(said).toMatchObject(expected);
          return said;
        },
        { timeout: timeoutMs, interval: 50 },
      );
    },
  };
}

async function makeDisk(root: string): Promise<FileSystem> {
  await mkdir(root, { recursive: true });
  const files = createDisk({ root });
  await makeSimulatedMachine(files);
  return files;
}

export const said = (state: string, currentConfig: string): object => ({
  [nodeAnnotations.state]: state,
  [nodeAnnotations.currentConfig]: currentConfig,
});

/** An Ignition config with files of these contents. */
export const withFiles = (files: Readonly<Record<string, string>>, more: object = {}): Spec => ({
  config: {
    ignition: { version: '3.5.0' },
    storage: {
      files: Object.entries(files).map(([path, text]) => ({
        path,
        mode: 0o644,
        overwrite: true,
        contents: { source: `data:,${encodeURIComponent(text)}` },
      })),
    },
    ...more,
  },
});
