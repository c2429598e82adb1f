// Lists in each pool the PinnedImageSets that match it by label, in addition to those that a user added.
import { addedImageSetsAnnotation, type MachineConfigPool, machineConfigPools } from '@slipway/api';
import { readAddedSets, encodeAddedSets, nextPoolSets, listSetNames } from '@slipway/fleet';
import { type Context, type ControllerDef, done, type Gate, type Stored } from '@slipway/kube';
import { PINNED_IMAGES_GATE } from '../feature-gates.ts';
import { everyPool, imageSets, listImageSets } from '../sources.ts';

/** Shared by all controllers of pinned images. */
export const FIELD_MANAGER = 'slipway-pinned-images';

/** Sets that a user added to a pool stay. */
const withdrawSets: Gate['whenOff'] = async (context) => {
  for await (const pool of context.client.list(machineConfigPools, { signal: context.signal })) {
    if (pool.metadata.annotations?.[addedImageSetsAnnotation] === undefined) continue;
    await writeSets(pool, nextPoolSets(pool, []), context);
  }
};

export const poolSetsController: ControllerDef = {
  name: 'pool-image-sets',
  gate: { name: PINNED_IMAGES_GATE, whenOff: withdrawSets },
  fieldManager: FIELD_MANAGER,
  reads: [{ resource: machineConfigPools }, { ...imageSets, keysOf: everyPool }],
  owns: [{ resource: machineConfigPools }],
  async reconcile(name, context) {
    const pool = context.read(machineConfigPools).get(name);
    if (pool === undefined || pool.metadata.deletionTimestamp !== undefined) return done();
    await writeSets(pool, nextPoolSets(pool, listImageSets(context.read)), context);
    return done();
  },
};

type DesiredSets = Pick<ReturnType<typeof nextPoolSets>, 'names' | 'added'>;

/** Names and their origin change in one write, so that a user's sets are never mistaken for ours. */
async function writeSets(
  pool: Stored<MachineConfigPool>,
  { names, added }: DesiredSets,
  { write, log }: Pick<Context, 'write' | 'log'>,
): Promise<void> {
  const before = listSetNames(pool);
  if (isSame(before, names) && isSame(readAddedSets(pool), added)) return;
  const body = {
    metadata: { annotations: { [addedImageSetsAnnotation]: added.length === 0 ? null : encodeAddedSets(added) } },
    spec: { pinnedImageSets: names.length === 0 ? null : names.map((name) => ({ name })) },
  };
  await write.patch(machineConfigPools, pool, body);
  log.info(
    {
      pool: pool.metadata.name,
      added: names.filter((name) => !before.includes(name)),
      removed: before.filter((name) => !names.includes(name)),
    },
    'updated the PinnedImageSets of a pool',
  );
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((each, index) => each === b[index]);
