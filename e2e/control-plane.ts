import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resolveBinaries, startControlPlane, ToolsError, type ControlPlane } from '@slipway/tools/controlplane';
import { OracleError, resolveOracle } from '@slipway/tools/ignition-oracle';
import { isIronicMissing } from '@slipway/tools/ironic';
import type { TestProject } from 'vitest/node';
import { type CrioUnderTest, resolveCrioUnderTest } from './crio/crio.ts';
import { type ClientUnderTest, resolveClients } from './first-boot/clients.ts';
import { type NodesUnderTest, resolveNodes } from './node/nodes.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The real Ignition clients that boot machines in tests; none for the slow tests. */
    ignitionClients: ClientUnderTest[];
    /** What nodes with a real systemd are made from. */
    nodes: NodesUnderTest;
    /** What a real CRI-O is started from. */
    crio: CrioUnderTest;
  }
}

/** One control plane for all tests of a project, gone when they are done. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const clients = project.name === 'slow' ? [] : await resolveClients().catch(giveUp);
  project.provide('ignitionClients', clients);
  const nodes = await resolveNodes().catch(giveUp);
  project.provide('nodes', nodes);
  project.provide('crio', await resolveCrioUnderTest(nodes).catch(giveUp));
  const controlPlane = await start(project.name).catch(giveUp);
  project.provide('kubeconfig', controlPlane.kubeconfig);
  const installations = await mkdtemp(join(tmpdir(), 'slipway-installations-'));
  project.provide('installations', installations);
  return async () => {
    await controlPlane.stop();
    await rm(installations, { recursive: true, force: true });
  };
}

async function start(project: string): Promise<ControlPlane> {
  // Everything that tests may ask for later: what has to be built is built now, where no test's time is running.
  const binaries = await resolveBinaries(['etcd', 'kube-apiserver', 'kubectl']);
  await resolveOracle();
  if (project === 'slow') await resolveBinaries(['kube-controller-manager', 'kubelet']);
  await isIronicMissing();
  return startControlPlane({ binaries });
}

/** Vitest would put the one line that helps between a stack and a page of source. */
function giveUp(error: unknown): never {
  if (!(error instanceof ToolsError || error instanceof OracleError)) throw error;
  console.error(`what the tests need cannot be had: ${error.message} [${error.code}]`);
  console.log('0 passed, 1 failed');
  process.exit(1);
}
