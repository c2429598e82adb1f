import { inUseLabel, type MachineConfig, machineConfigPools, machineConfigs, poolLabel } from '@slipway/api';
import { type RenderedConfigFacts, retain } from '@slipway/fleet';
import { again, type Context, type ControllerDef, done, type StoreReader, type Stored } from '@slipway/kube';
import { computeRunInterval } from '../fleet-index.ts';
import { renderedMachineConfigs } from '../sources.ts';
import { isReferenced, listPoolConfigs, referringSources } from './references.ts';

export interface RetentionOptions {
  /** How many unused rendered configs of a pool are kept. */
  keep: number;
}

/** Marks the rendered configs that are in use, so that admission refuses to delete them, and collects the old ones. */
export function renderedConfigsController({ keep }: RetentionOptions): ControllerDef {
  return {
    name: 'rendered-configs',
    reads: [renderedMachineConfigs, { resource: machineConfigPools }, ...referringSources],
    owns: [{ resource: machineConfigs }],
    minIntervalMs: computeRunInterval,
    async reconcile(name, context) {
      const { read, now } = context;
      const pool = read(machineConfigPools).get(name);
      const configs = [...read(machineConfigs).values()].filter(
        ({ metadata }) => metadata.labels?.[poolLabel] === name,
      );
      const ofPool = listPoolConfigs(pool);
      const facts = configs.map((config) => readConfigFacts(config, ofPool, read));
      const decision = retain(facts, pool === undefined ? 0 : keep, now().getTime());
      for (const config of configs) await applyRetention(config, decision, context);
      return decision.lookAgainAt === undefined ? done() : again(Math.max(0, decision.lookAgainAt - now().getTime()));
    },
  };
}

function readConfigFacts(
  { metadata }: Stored<MachineConfig>,
  ofPool: readonly (string | undefined)[],
  read: StoreReader,
): RenderedConfigFacts {
  const { name } = metadata;
  return {
    name,
    createdAt: Date.parse(metadata.creationTimestamp ?? ''),
    isMarked: metadata.labels?.[inUseLabel] !== undefined,
    isReferenced: ofPool.includes(name) || isReferenced(read, name),
  };
}

async function applyRetention(
  config: Stored<MachineConfig>,
  { mark, unmark, remove }: ReturnType<typeof retain>,
  { write, log }: Context,
): Promise<void> {
  const { name } = config.metadata;
  if (remove.includes(name)) {
    await write.remove(machineConfigs, config);
    log.info({ rendered: name }, 'deleted an old rendered MachineConfig');
  } else if (mark.includes(name) || unmark.includes(name)) {
    const body = { metadata: { labels: { [inUseLabel]: mark.includes(name) ? '' : null } } };
    await write.patch(machineConfigs, config, body);
  }
}
