export { createManyDaemons } from './fleet/many-daemons.ts';
export { type SimulatedFleet, startFleet, startLocalFleet } from './fleet/simulated-fleet.ts';
export { listRecordedActions } from './host/systemd.ts';
export {
  bootSimulatedMachine,
  createSimulatedHost,
  makeSimulatedMachine,
  SIMULATED_DETAILS,
  type SimulatedMachineOptions,
} from './host/simulated-host.ts';
export { readImages, setRuntimeBehaviour, writeImages } from './host/runtime-state.ts';
export { simulatedLayers } from './host/container-runtime.ts';
