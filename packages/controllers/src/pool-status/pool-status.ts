import { machineConfigPools } from '@slipway/api';
import { type ControllerDef, done } from '@slipway/kube';
import { derivePoolStatus } from './pool-conditions.ts';

/** The only writer of a pool's status: the others leave their findings in annotations or in objects of their own. */
export const poolStatusController: ControllerDef = {
  name: 'pool-status',
  reads: [{ resource: machineConfigPools }],
  owns: [{ resource: machineConfigPools, subresource: 'status' }],
  async reconcile(name, { read, client, now }) {
    const pool = read(machineConfigPools).get(name);
    if (pool === undefined) return done();
    const status = derivePoolStatus(pool, now());
    if (status === pool.status) return done();
    const { resourceVersion, uid } = pool.metadata;
    // A merge patch puts a list whole in place of the old one, which is what the API says of conditions.
    await client.patch(
      machineConfigPools,
      pool.metadata,
      {
        type: 'merge',
        body: { status: { observedGeneration: status.observedGeneration, conditions: status.conditions } },
      },
      { resourceVersion, uid },
      { subresource: 'status', fieldManager: 'slipway-pool-status' },
    );
    return done();
  },
};
