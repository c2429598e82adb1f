import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ClusterApiPrograms, resolveClusterApi } from '@slipway/tools/cluster-api';
import { resolveCommand } from '@slipway/tools/command';
import { resolveBinaries, startControlPlane, ToolsError, type ControlPlane } from '@slipway/tools/controlplane';
import { OracleError, resolveOracle } from '@slipway/tools/ignition-oracle';
import { isIronicMissing } from '@slipway/tools/ironic';
import type { TestProject } from 'vitest/node';
import { type CrioUnderTest, resolveCrioUnderTest } from './crio/crio.ts';
import { type ClientUnderTest, resolveClients } from './first-boot/clients.ts';
import { findNeeds, type Need } from './needs.ts';
import { type NodesUnderTest, resolveNodes } from './node/nodes.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The real Ignition clients that boot machines in tests. */
    ignitionClients: ClientUnderTest[];
    /** What nodes with a real systemd are made from. */
    nodes: NodesUnderTest;
    /** What a real CRI-O is started from. */
    crio: CrioUnderTest;
    /** Cluster API's own controllers. */
    clusterApi: { programs?: ClusterApiPrograms };
  }
}

/** One control plane for all tests of a project, gone when they are done, and what the files of this run ask for besides. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const tests = await listTests(project);
  if (tests.length === 0) return async () => {};
  const needs = findNeeds(await Promise.all(tests.map((path) => readFile(path, 'utf8'))));
  // A small program shows what a first boot promises; what only the large one can be asked is a test of whole machines.
  const version = project.name === 'cluster' ? '2.24' : '2.14';
  project.provide('ignitionClients', needs.has('ignition client') ? await resolveClients([version]).catch(giveUp) : []);
  const nodes = needs.has('nodes') ? await resolveNodes().catch(giveUp) : {};
  project.provide('nodes', nodes);
  project.provide('crio', needs.has('crio') ? await resolveCrioUnderTest(nodes).catch(giveUp) : {});
  project.provide('clusterApi', needs.has('cluster api') ? { programs: await resolveClusterApi().catch(giveUp) } : {});
  project.provide('command', await resolveCommand());
  const controlPlane = await start(needs).catch(giveUp);
  project.provide('kubeconfig', controlPlane.kubeconfig);
  const installations = await mkdtemp(join(tmpdir(), 'slipway-installations-'));
  project.provide('installations', installations);
  return async () => {
    await controlPlane.stop();
    await rm(installations, { recursive: true, force: true });
  };
}

/** The files that this run has of the project, without unit tests: those need nothing. */
async function listTests(project: TestProject): Promise<string[]> {
  const running = new Set(project.vitest.state.getPaths());
  const { testFiles } = await project.globTestFiles();
  return testFiles.filter((path) => running.has(path) && /\.(e2e|cluster|slow)\.test\.ts$/.test(path));
}

async function start(needs: ReadonlySet<Need>): Promise<ControlPlane> {
  // Everything that tests may ask for later: what has to be built is built now, where no test's time is running.
  const binaries = await resolveBinaries(['etcd', 'kube-apiserver', 'kubectl']);
  if (needs.has('oracle')) await resolveOracle();
  if (needs.has('controller manager')) await resolveBinaries(['kube-controller-manager']);
  if (needs.has('kubelet')) await resolveBinaries(['kubelet']);
  if (needs.has('ironic')) await isIronicMissing();
  return startControlPlane({ binaries });
}

/** Vitest would put the one line that helps between a stack and a page of source. */
function giveUp(error: unknown): never {
  if (!(error instanceof ToolsError || error instanceof OracleError)) throw error;
  console.error(`what the tests need cannot be had: ${error.message} [${error.code}]`);
  console.log('0 passed, 1 failed');
  process.exit(1);
}
