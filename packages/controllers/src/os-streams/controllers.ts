// What OS image streams leave behind when their feature gate is turned off goes: the OSImageStream, conditions that nobody would
// clear any more, and the streams that pools were on. Those would be old by the time that the gate is on again; what the machines run tells then.
import {
  clusterOperators,
  type MachineConfigPool,
  machineConfigPools,
  osImageStreams,
  osStreamAnnotation,
  osStreamImagesAnnotation,
  osStreamProblemAnnotation,
} from '@slipway/api';
import { type Context, type ControllerDef, done, type Gates, isKubeError, type Stored } from '@slipway/kube';
import { listenToGates, usesStreams } from '../feature-gates.ts';
import { CLUSTER, osImageStreamSource, streamObjectIn } from '../sources.ts';
import { poolStreamsController } from './pool-streams-controller.ts';
import { keepRegistry } from './registry.ts';
import { type OsStreamsOptions } from './options.ts';
import { osStreamsController } from './streams-controller.ts';
import {
  degradedBy,
  degradedReason,
  OPERATOR,
  operatorSource,
  sayOnOperator,
  upgradeableController,
} from './upgradeable-controller.ts';

const fieldManager = 'slipway-os-streams';
const annotations = [osStreamAnnotation, osStreamImagesAnnotation, osStreamProblemAnnotation] as const;
const once = (): string[] => [CLUSTER];

function turnedOffController(gates: Gates): ControllerDef {
  return {
    name: 'os-streams-turned-off',
    reads: [
      { resource: machineConfigPools, keysOf: once },
      { ...operatorSource, keysOf: once },
      { ...osImageStreamSource, keysOf: once },
    ],
    owns: [
      { resource: machineConfigPools },
      { resource: osImageStreams },
      { resource: clusterOperators },
      { resource: clusterOperators, subresource: 'status' },
    ],
    startsWith: [CLUSTER],
    ...listenToGates(gates, once),
    async reconcile(_, context) {
      if (usesStreams(gates)) return done();
      for (const pool of context.read(machineConfigPools).values()) await forget(pool, context);
      await remove(context);
      await clear(context);
      return done();
    },
  };
}

async function forget({ metadata }: Stored<MachineConfigPool>, { client, log }: Context): Promise<void> {
  const left = annotations.filter((key) => metadata.annotations?.[key] !== undefined);
  if (left.length === 0) return;
  const { name, uid, resourceVersion } = metadata;
  const gone = Object.fromEntries(left.map((key) => [key, null]));
  const patch = { type: 'merge', body: { metadata: { annotations: gone } } } as const;
  await client.patch(machineConfigPools, metadata, patch, { uid, resourceVersion }, { fieldManager });
  log.info({ pool: name }, 'the feature gate OSStreams is off: the OS image stream of the pool is forgotten');
}

/** While it is there, admission holds pools to its streams. */
async function remove({ read, client, log }: Context): Promise<void> {
  const object = streamObjectIn(read);
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return;
  await client.delete(osImageStreams, object.metadata, { uid: object.metadata.uid }).catch((error: unknown) => {
    if (!isKubeError(error, 'SLW_KUBE_NOT_FOUND')) throw error;
  });
  log.info('the feature gate OSStreams is off: removed OSImageStream cluster');
}

/** Upgradeable has a writer that works whether the gate is on or off. */
async function clear({ read, client, now }: Context): Promise<void> {
  const operator = read(clusterOperators).get(OPERATOR);
  const isDegraded = operator?.status?.conditions?.some(
    ({ type, reason }) => type === 'Degraded' && reason === degradedReason,
  );
  if (isDegraded === true) await sayOnOperator(operator, degradedBy([]), client, now());
}

/** All that has to do with OS image streams and no more than that. Render and rollout follow what these write. */
export function osStreamsControllers(options: OsStreamsOptions): ControllerDef[] {
  const registries = keepRegistry(options.registry);
  return [
    osStreamsController(options, registries),
    poolStreamsController(options, registries),
    upgradeableController(options.gates),
    turnedOffController(options.gates),
  ];
}
