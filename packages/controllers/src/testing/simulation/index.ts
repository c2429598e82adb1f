// What tests on the real control plane share with those in memory.
export {
  computeMaxUnavailable,
  annotationsOf,
  isOutThroughUs,
  isUnavailable,
  isHealthy,
  readTargetConfig,
} from './fleet-rules.ts';
export { createMemoryApi } from './memory-api.ts';
export { createMemoryClient } from './memory-client.ts';
export type { Annotations, Change } from './model-daemon.ts';
export { type MachineEnvironment, runMachine, type SimulatedMachine } from './simulated-machine.ts';
export { openView } from './view.ts';
