import { machineConfigPools, machineConfigs } from '@slipway/api';
import {
  type BuiltInMachineConfig,
  builtInMachineConfigs,
  type BuiltInOptions,
  builtInRoles,
  canonicalJson,
  missingPools,
} from '@slipway/fleet';
import { type ControllerDef, done } from '@slipway/kube';
import { sourceMachineConfigs } from './sources.ts';

/** What this program brings: the pools master and worker, and MachineConfigs for all pools. */
export const builtInControllers = (options: BuiltInOptions): ControllerDef[] => [
  defaultPoolsController,
  builtInController(options),
];

const nameFor = (role: string): string => `00-${role}`;

/** Keeps the operator's own MachineConfigs as this program brings them. */
export function builtInController(options: BuiltInOptions): ControllerDef {
  const wanted = new Map(builtInMachineConfigs(options).map((each) => [each.metadata.name, each]));
  return {
    name: 'built-in',
    reads: [{ ...sourceMachineConfigs, keysOf: ({ metadata }) => (wanted.has(metadata.name) ? [metadata.name] : []) }],
    owns: [{ resource: machineConfigs }],
    startsWith: builtInRoles.map(nameFor),
    async reconcile(name, { read, write, log }) {
      const target = wanted.get(name);
      const found = read(machineConfigs).get(name);
      if (target === undefined || (found !== undefined && isAsWanted(found, target))) return done();
      if (found === undefined) await write.create(machineConfigs, target);
      // Force: a field of these that somebody else has taken is put back, as the admission policy promises.
      else await write.apply(machineConfigs, found, target, { force: true });
      log.info(
        { machineConfig: name },
        found === undefined ? 'made a built-in MachineConfig' : 'put a built-in MachineConfig back',
      );
      return done();
    },
  };
}

/** Labels and annotations that others add are theirs. */
function isAsWanted(found: Partial<BuiltInMachineConfig>, target: BuiltInMachineConfig): boolean {
  const has = (all: Record<string, string> | undefined, some: Record<string, string> = {}) =>
    Object.entries(some).every(([key, value]) => all?.[key] === value);
  return (
    has(found.metadata?.labels, target.metadata.labels) &&
    has(found.metadata?.annotations, target.metadata.annotations) &&
    canonicalJson(found.spec ?? {}) === canonicalJson(target.spec)
  );
}

const EVERY_POOL = 'default-pools';

/** Sees to it that the pools master and worker exist. Never changes one that does. */
const defaultPoolsController: ControllerDef = {
  name: 'default-pools',
  reads: [{ resource: machineConfigPools, as: 'metadata', keysOf: () => [EVERY_POOL] }],
  owns: [{ resource: machineConfigPools }],
  startsWith: [EVERY_POOL],
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
