// Cluster API's own controllers for tests: the core manager, and its infrastructure provider with machines in memory.
//
//   const { programs } = inject('clusterApi');   // in *.slow.test.ts
//   const clusterApi = await startClusterApi({ programs, kubeconfig, install });
//   await clusterApi.stop()                      // at the end
//
// `install` creates what it is passed: first CRDs, whose conversion webhooks the core manager serves, then its admission
// webhooks. Machines need neither Docker nor a bootstrap provider: the test sets dataSecretName.
export { makeClusterAuthority } from './authority.ts';
export { type ClusterApiPrograms, resolveClusterApi } from './build.ts';
export { type ClusterApi, startClusterApi } from './cluster-api.ts';
export type { Manifest } from './manifests.ts';
