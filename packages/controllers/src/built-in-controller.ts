import { builtInLabel, type MachineConfig, machineConfigPools, machineConfigs } from '@slipway/api';
import {
  type BuiltInMachineConfig,
  builtInMachineConfigs,
  type BuiltInOptions,
  isAsShipped,
  isBuiltInNeeded,
  missingPools,
} from '@slipway/fleet';
import { type Context, type ControllerDef, done, type Stored } from '@slipway/kube';
import { sourceMachineConfigs } from './sources.ts';

/** What this version ships: the pools master and worker, and MachineConfigs for all pools. */
export const builtInControllers = (options: BuiltInOptions): ControllerDef[] => [
  defaultPoolsController,
  builtInController(options),
];

/** Keeps the operator's MachineConfigs at the content that this version ships. */
export function builtInController(options: BuiltInOptions): ControllerDef {
  const wanted = new Map(builtInMachineConfigs(options).map((each) => [each.metadata.name, each]));
  return {
    name: 'built-in',
    reads: [
      { ...sourceMachineConfigs, keysOf: ({ metadata }) => (wanted.has(metadata.name) ? [metadata.name] : []) },
      { resource: machineConfigPools, as: 'metadata', keysOf: () => [...wanted.keys()] },
    ],
    owns: [{ resource: machineConfigs }],
    startsWith: [...wanted.keys()],
    async reconcile(name, { read, write, log }) {
      const target = wanted.get(name);
      if (target === undefined) return done();
      const found = read(machineConfigs).get(name);
      if (!isBuiltInNeeded(target, (pool) => read(machineConfigPools).get(pool) !== undefined, found)) {
        // That of a user has no such label.
        if (found?.metadata.labels?.[builtInLabel] === undefined) return done();
        await write.remove(machineConfigs, found);
        log.info({ machineConfig: name }, 'deleted a built-in MachineConfig whose pool does not exist');
        return done();
      }
      if (found !== undefined && isAsShipped(found, target)) return done();
      if (found === undefined) await write.create(machineConfigs, target);
      else await putBack(found, target, write);
      log.info(
        { machineConfig: name },
        found === undefined ? 'created a built-in MachineConfig' : 'restored a built-in MachineConfig',
      );
      return done();
    },
  };
}

/** Replaces the spec as a whole: server-side apply, even if forced, would keep fields that another client added. */
const putBack = (
  found: Stored<MachineConfig>,
  { metadata, spec }: BuiltInMachineConfig,
  write: Context['write'],
): Promise<MachineConfig> =>
  write.jsonPatch(machineConfigs, found, [
    { op: 'add', path: '/spec', value: spec },
    { op: 'add', path: '/metadata/labels', value: { ...found.metadata.labels, ...metadata.labels } },
    { op: 'add', path: '/metadata/annotations', value: { ...found.metadata.annotations, ...metadata.annotations } },
  ]);

const EVERY_POOL = 'default-pools';

/** Creates the pools master and worker where they are missing. Never changes an existing pool. */
const defaultPoolsController: ControllerDef = {
  name: 'default-pools',
  reads: [{ resource: machineConfigPools, as: 'metadata', keysOf: () => [EVERY_POOL] }],
  owns: [{ resource: machineConfigPools }],
  startsWith: [EVERY_POOL],
  async reconcile(_, { read, write, events, log }) {
    const existing = [...read(machineConfigPools).values()].map((pool) => pool.metadata.name);
    for (const pool of missingPools(existing)) {
      const created = await write.createIfAbsent(machineConfigPools, pool);
      // Another client created it first, or the cache is stale. Either way it exists.
      if (created === undefined) continue;
      log.info({ pool: pool.metadata.name }, 'created a default pool');
      events.record(machineConfigPools, created, {
        type: 'Normal',
        reason: 'DefaultPoolCreated',
        message: `MachineConfigPool ${pool.metadata.name} did not exist. Slipway created it`,
      });
    }
    return done();
  },
};
