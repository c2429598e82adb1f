/** Where our own objects live, on plain Kubernetes too: users' manifests and habits name it. */
export const defaultNamespace = 'openshift-machine-config-operator';
