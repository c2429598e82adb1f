// The machine config server: answers machines at first boot from bytes that were prepared when the pool changed.
export { bootstrapPaths, createBootstrapSource } from './bootstrap-source.ts';
export { createClusterSource } from './cluster-source.ts';
export { ServerError, serverErrors } from './errors.ts';
export type { Address } from './listener.ts';
export { startServer } from './server.ts';
export type { MachineConfigServer, ServerOptions } from './server.ts';
export type { Inputs, Source } from './source.ts';
