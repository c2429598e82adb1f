import { machineConfigPools } from '@slipway/api';
import { missingPools } from '@slipway/fleet';
import { type ControllerDef, done } from '@slipway/kube';

const everyPool = 'default-pools';

/** Sees to it that the pools master and worker exist. Never changes one that does. */
export const defaultPoolsController: ControllerDef = {
  name: 'default-pools',
  reads: [{ resource: machineConfigPools, as: 'metadata', keysOf: () => [everyPool] }],
  owns: [{ resource: machineConfigPools }],
  startsWith: [everyPool],
  async reconcile(_, { read, write, events, log }) {
    const existing = [...read(machineConfigPools).values()].map((pool) => pool.metadata.name);
    for (const pool of missingPools(existing)) {
      const created = await write.createIfAbsent(machineConfigPools, pool);
      // Somebody was faster, or our cache is behind: what counts is that it exists.
      if (created === undefined) continue;
      log.info({ pool: pool.metadata.name }, 'made the default pool');
      events.record(machineConfigPools, created, {
        type: 'Normal',
        reason: 'DefaultPoolCreated',
        message: `MachineConfigPool ${pool.metadata.name} did not exist and was created`,
      });
    }
    return done();
  },
};
