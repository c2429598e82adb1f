import { resolveBinaries, startControlPlane } from '@slipway/tools/controlplane';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The administrator's kubeconfig of the control plane that all tests share. */
    kubeconfig: string;
  }
}

/** One control plane for all tests of a project, gone when they are done. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Everything that tests may ask for later: what has to be built is built now, where no test's time is running.
  const binaries = await resolveBinaries(['etcd', 'kube-apiserver', 'kubectl']);
  if (project.name === 'slow') await resolveBinaries(['kube-controller-manager']);
  const controlPlane = await startControlPlane({ binaries });
  project.provide('kubeconfig', controlPlane.kubeconfig);
  return () => controlPlane.stop();
}
