// What boot images leave behind when their feature gate is turned off goes: conditions that nobody would clear any more, and what
// would hold an upgrade for ever. The images stay as they are.
import { machineConfigurations } from '@slipway/api';
import { type ControllerDef, done, type Gates } from '@slipway/kube';
import { listenToGates } from '../os-streams/gate.ts';
import { CLUSTER } from './boot-image-reads.ts';
import { bootImagesGate } from './options.ts';
import { withdrawReport } from './write-report.ts';

const once = (): string[] => [CLUSTER];

export const bootImagesTurnedOffController = (gates: Gates): ControllerDef => ({
  name: 'boot-images-turned-off',
  reads: [{ resource: machineConfigurations, fieldSelector: `metadata.name=${CLUSTER}`, keysOf: once }],
  owns: [{ resource: machineConfigurations }, { resource: machineConfigurations, subresource: 'status' }],
  ...listenToGates(gates, once),
  async reconcile(name, { read, client, log }) {
    const configuration = read(machineConfigurations).get(name);
    if (gates.isOn(bootImagesGate) || configuration === undefined) return done();
    if (await withdrawReport(configuration, client))
      log.info(`the feature gate ${bootImagesGate} is off: took back what was said of boot images`);
    return done();
  },
});
