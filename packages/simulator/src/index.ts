export { createManyDaemons } from './fleet/many-daemons.ts';
export { type SimulatedFleet, startFleet } from './fleet/simulated-fleet.ts';
export { startLocalFleet } from './fleet/start-fleet.ts';
export { listDone } from './host/done.ts';
export { makeSimulatedMachine, type SimulatedMachineOptions } from './host/machine.ts';
export { readImages, setRuntimeBehaviour, writeImages } from './host/runtime-state.ts';
export { bootSimulatedMachine, createSimulatedHost } from './host/simulated-host.ts';
export { simulatedLayers } from './host/simulated-images.ts';
