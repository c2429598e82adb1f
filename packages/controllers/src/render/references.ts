// The references to rendered configs: in pools and in annotations of nodes and MachineSets, and nowhere else that we
// read.
import {
  clusterApiMachineSets,
  type MachineConfigPool,
  machineSets,
  type Node,
  nodeAnnotations,
  nodes,
  rolloutStateAnnotation,
  targetConfigAnnotation,
} from '@slipway/api';
import { isEqual } from '@slipway/base/equal';
import { decodeState } from '@slipway/fleet';
import type { KubeObject, StoreReader, Resource, Source } from '@slipway/kube';
import { fleetNodes } from '../sources.ts';

const INDEX = 'rendered config';
const { currentConfig, desiredConfig } = nodeAnnotations;
const RENDERED_NAME = /^rendered-(.+)-[0-9a-f]{32}$/;

/** A changed reference affects the pools of the referenced configs. */
export const referringSources: readonly Source[] = [
  {
    ...fleetNodes,
    indexes: { [INDEX]: namedByNode },
    keysOf: (node: Node) => parsePoolNames(namedByNode(node)),
    concerns: (before: Node, after: Node) =>
      [currentConfig, desiredConfig].some(
        (key) => before.metadata.annotations?.[key] !== after.metadata.annotations?.[key],
      ),
  } satisfies Source<Node>,
  buildSource(machineSets),
  buildSource(clusterApiMachineSets),
];

export const isReferenced = (read: StoreReader, name: string): boolean =>
  [read(nodes), read(machineSets), read(clusterApiMachineSets)].some((store) => store.hasIndexed(INDEX, name));

/** The rendered configs that a pool names. */
export function listPoolConfigs(pool: MachineConfigPool | undefined): (string | undefined)[] {
  if (pool === undefined) return [];
  const { annotations = {} } = pool.metadata;
  const target = annotations[targetConfigAnnotation];
  // A cancel or an automatic rollback returns to it, and the server serves it until the rollout has passed its canary.
  const lastGood = decodeState(annotations[rolloutStateAnnotation])?.from ?? undefined;
  return [pool.spec.configuration?.name, pool.status?.configuration?.name, target, lastGood];
}

function buildSource(resource: Resource): Source {
  return {
    resource,
    as: 'metadata',
    indexes: { [INDEX]: namedByMachineSet },
    keysOf: (object) => parsePoolNames(namedByMachineSet(object)),
    concerns: (before, after) => !isEqual(namedByMachineSet(before), namedByMachineSet(after)),
  };
}

function namedByNode({ metadata: { annotations = {} } }: Node): string[] {
  const current = annotations[currentConfig];
  const desired = annotations[desiredConfig];
  return [current, desired === current ? undefined : desired].filter((name) => name !== undefined);
}

function namedByMachineSet({ metadata }: KubeObject): string[] {
  return Object.values(metadata.annotations ?? {}).filter((value) => RENDERED_NAME.test(value));
}

/** The pools of rendered configs, by config name. */
function parsePoolNames(names: readonly string[]): string[] {
  return names.flatMap((name) => RENDERED_NAME.exec(name)?.[1] ?? []);
}
