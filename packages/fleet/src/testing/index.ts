export { clusterFacts, entry, sampleBootImage, report, sampleHistory, workerA } from './sample-boot-images.ts';
export { sampleOsImage, poolOnStream, rhel10, rhel9, sampleStreams } from './sample-streams.ts';
export { recordIn, sampleFleet, type SampleFleet, sampleNode, sampleMachineConfigPool } from './sample-fleet.ts';
export { type HostSample, sampleHost, sampleImage, URL } from './sample-drive.ts';
export { samplePool, sampleState } from './sample-pool.ts';
export { type SamplePinNode, samplePins, type SamplePins, sampleSet } from './sample-pins.ts';
export { machineConfig, planSample } from './sample-plan.ts';
