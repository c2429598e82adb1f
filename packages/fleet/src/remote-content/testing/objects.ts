// MachineConfigs and index Secrets as the API server returns them.
import type { MachineConfig, Secret } from '@slipway/api';
import { indexMetadata, type IndexOutcome } from '../snapshot.ts';

export interface MachineConfigInput {
  name?: string;
  uid?: string;
  generation?: number;
  annotations?: Record<string, string>;
  config?: object;
}

export function machineConfigWith(given: MachineConfigInput = {}): MachineConfig {
  const { name = '99-worker-remote', uid = 'uid-1', generation = 1, annotations = {}, config } = given;
  const metadata = { name, uid, generation, annotations, resourceVersion: '1' };
  return { metadata, spec: { config: { ignition: { version: '3.5.0' }, ...config } } };
}

export const buildIndex = (machineConfig: MachineConfig, outcome: IndexOutcome): Secret => ({
  metadata: { ...indexMetadata(machineConfig, outcome), uid: 'index-uid', resourceVersion: '7' },
});

/** Files by path, each with its source. */
export const filesFrom = (sources: Record<string, string>): object => ({
  storage: { files: Object.entries(sources).map(([path, source]) => ({ path, contents: { source } })) },
});
