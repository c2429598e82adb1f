export { createRegistry } from './client.ts';
export { isRegistryError, RegistryError, type RegistryErrorCode, registryErrors } from './errors.ts';
export { parseMirrorSets } from './mirror-sets.ts';
export { parsePullSecret } from './pull-secret.ts';
export { formatReference, mostSpecific, parseReference, type Reference } from './reference.ts';
export { parseRegistriesConf, type RegistriesConf } from './registries-conf.ts';
export type * from './registry.ts';
