// A cluster with nodes that are simulated machines: real control plane, real daemons, directories in place of disks.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { machineConfigs, nodeAnnotations, nodes } from '@slipway/api';
import { createDisk, ENCAPSULATED, type FileSystem } from '@slipway/daemon';
import { canonicalJson, renderedName } from '@slipway/fleet';
import type { Client } from '@slipway/kube';
import { makeSimulatedMachine } from '@slipway/simulator';
import { type MachineConfigSpec, node, renderedConfig } from '@slipway/testing/builders';
import { startTestCluster } from '@slipway/testing/control-plane';
import { waitForExit, type RunningProcess, startProgram } from '@slipway/testing/slipway-process';
import { until, type WaitBound } from '@slipway/testing/wait';
import { bundleDaemon } from '@slipway/tools/bundle';
import type { ControlPlane } from '@slipway/tools/controlplane';
import { expect } from 'vitest';

const entry = resolve(import.meta.dirname, '../../packages/slipway/src/testing/simulated-daemon.ts');

export interface SimulatedNode {
  readonly name: string;
  readonly root: string;
  readonly files: FileSystem;
  kubeconfig: string;
  /** Starts the daemon of this node; the one before has to have ended. */
  start(...args: string[]): RunningProcess;
  stop(signal?: NodeJS.Signals): Promise<void>;
  annotations(): Promise<Readonly<Record<string, string>>>;
  /** As a controller does it. */
  annotate(annotations: Readonly<Record<string, string | null>>): Promise<void>;
  /** Waits until the node says this. */
  says(expected: object, bound?: WaitBound): Promise<Readonly<Record<string, string>>>;
}

export interface DaemonCluster {
  readonly controlPlane: ControlPlane;
  readonly operator: Client;
  /** A rendered config, of the pool worker by default; resolves to its name. */
  render(spec: MachineConfigSpec, pool?: string): Promise<string>;
  /** A machine that was born with this config, and its Node. */
  makeNode(name: string, config: string): Promise<SimulatedNode>;
  stop(): Promise<void>;
}

export async function startDaemonCluster(): Promise<DaemonCluster> {
  const cluster = await startTestCluster();
  const { controlPlane, operator: client } = cluster;
  const directory = await mkdtemp(join(tmpdir(), 'slipway-daemon-'));
  // As it is shipped, and it starts in a fraction of the time.
  const { path: program } = await bundleDaemon({ entry, directory });
  const running = new Set<SimulatedNode>();
  return {
    controlPlane,
    operator: client,
    render: (spec, pool) => render(client, spec, pool),
    async makeNode(name, config) {
      const made = await makeNode({ controlPlane, client, directory, program }, name, config);
      running.add(made);
      return made;
    },
    async stop() {
      for (const each of running) await each.stop();
      await cluster.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** A rendered config of a pool; resolves to its name. */
export async function render(client: Client, spec: MachineConfigSpec, pool = 'worker'): Promise<string> {
  const name = renderedName(pool, canonicalJson(spec));
  const found = await client.find(machineConfigs, { name });
  if (found === undefined) await client.create(machineConfigs, renderedConfig(name, pool, spec));
  return name;
}

interface NodeEnvironment {
  readonly controlPlane: ControlPlane;
  readonly client: Client;
  readonly directory: string;
  readonly program: string;
}

async function makeNode(
  { controlPlane, client, directory, program }: NodeEnvironment,
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
  const born = await waitForExit(startProgram(program, ['daemon', 'first-boot', '--root', root, '--simulate']));
  expect(born).toMatchObject({ code: 0 });
  await client.create(nodes, node(name));
  const kubeconfig = await controlPlane.kubeconfigFor({ user: `system:node:${name}`, groups: ['system:nodes'], name });
  const annotations = async () => (await client.get(nodes, { name })).metadata.annotations ?? {};
  let daemon: RunningProcess | undefined;
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
    async stop(signal) {
      await daemon?.stop(signal);
      daemon = undefined;
    },
    annotations,
    async annotate(changed) {
      await client.patch(nodes, { name }, { type: 'merge', body: { metadata: { annotations: changed } } }, {});
    },
    says: (expected, bound) =>
      until(async () => {
        const said = await annotations();
        expect(said).toMatchObject(expected);
        return said;
      }, bound),
  };
}

async function makeDisk(root: string): Promise<FileSystem> {
  await mkdir(root, { recursive: true });
  const files = createDisk({ root });
  await makeSimulatedMachine(files);
  return files;
}

const { desiredConfig, desiredDrain, lastAppliedDrain } = nodeAnnotations;

/** Updates a node to a config, with the drain that it may ask for. */
export async function goTo(node: SimulatedNode, config: string): Promise<void> {
  await node.annotate({ [desiredConfig]: config });
  await until(async () => {
    const asked = await grantDrain(node);
    expect(await node.annotations()).toMatchObject(buildStateAnnotations('Done', config));
    expect(asked.startsWith('drain-')).toBe(false);
  });
}

/** As the controller does it. Resolves to what the node asks for. */
export async function grantDrain(node: SimulatedNode): Promise<string> {
  const now = await node.annotations();
  const asked = now[desiredDrain] ?? '';
  if (asked !== (now[lastAppliedDrain] ?? '')) await node.annotate({ [lastAppliedDrain]: asked });
  return asked;
}

export const buildStateAnnotations = (state: string, currentConfig: string): object => ({
  [nodeAnnotations.state]: state,
  [nodeAnnotations.currentConfig]: currentConfig,
});
