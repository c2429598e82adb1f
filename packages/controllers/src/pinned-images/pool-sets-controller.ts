// Keeps in each pool the PinnedImageSets that match it by label, beside those that a person put there.
import { addedImageSetsAnnotation, type MachineConfigPool, machineConfigPools } from '@slipway/api';
import { readAddedSets, encodeAddedSets, nextPoolSets, listSetNames } from '@slipway/fleet';
import { type Context, type ControllerDef, done, type Gate, type Stored } from '@slipway/kube';
import { PINNED_IMAGES_GATE } from '../feature-gates.ts';
import { everyPool, imageSets, listImageSets } from '../sources.ts';

/** Of all controllers of pinned images. */
export const FIELD_MANAGER = 'slipway-pinned-images';

/** A decision looks at every machine: while hundreds of them report in a second, several reports are answered at once. */
export const computeRunInterval = (machines: number): number => Math.min(500, Math.floor(machines / 2));

/** What a person put into a pool stays. */
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

/** The names and the memory of who put them there change in one write: else a person's and ours could be mixed up. */
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
    'the pinned image sets of a pool have changed',
  );
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((each, index) => each === b[index]);
