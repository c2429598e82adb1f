// Whether the machines of a pool are workers first: then it has worker's OS too, unless it says otherwise.
import { roleLabel, type MachineConfigPool } from '@slipway/api';
import { matchesSelector } from '../render/label-selector.ts';

const onTheirOwn = new Set(['worker', 'master', 'arbiter']);

export const followsWorker = ({ metadata, spec }: Pick<MachineConfigPool, 'metadata' | 'spec'>): boolean =>
  !onTheirOwn.has(metadata.name) && matchesSelector(spec.machineConfigSelector, { [roleLabel]: 'worker' });
