import { machineConfigs } from '@slipway/api';
import {
  type BuiltInMachineConfig,
  builtInMachineConfigs,
  type BuiltInOptions,
  builtInRoles,
  canonicalJson,
} from '@slipway/fleet';
import { type ControllerDef, done } from '@slipway/kube';
import { givenMachineConfigs } from './sources.ts';

const nameFor = (role: string): string => `00-${role}`;

/** Keeps the operator's own MachineConfigs as this program brings them. */
export function builtInController(options: BuiltInOptions): ControllerDef {
  const wanted = new Map(builtInMachineConfigs(options).map((each) => [each.metadata.name, each]));
  return {
    name: 'built-in',
    reads: [{ ...givenMachineConfigs, keysOf: ({ metadata }) => (wanted.has(metadata.name) ? [metadata.name] : []) }],
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
