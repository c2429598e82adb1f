export { clusterFacts, entry, imageOf, report, sampleHistory, workerA } from './sample-boot-images.ts';
export { osImageOf, poolOnStream, rhel10, rhel9, sampleStreams } from './sample-streams.ts';
export { recordIn, sampleFleet, type SampleFleet, sampleNode, samplePoolOf } from './sample-fleet.ts';
export { type HostSample, sampleHost, sampleImage, URL } from './sample-drive.ts';
export { samplePool, sampleState } from './sample-pool.ts';
export { type SamplePinNode, samplePins, type SamplePins, sampleSet } from './sample-pins.ts';
export { machineConfig, planSample } from './sample-plan.ts';
