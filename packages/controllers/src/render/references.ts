// Who names rendered configs: nodes and MachineSets, in their annotations, and in nothing else that we read.
import { clusterApiMachineSets, machineSets, type Node, nodeAnnotations, nodes } from '@slipway/api';
import type { KubeObject, Read, Source } from '@slipway/kube';
import { fleetNodes } from '../sources.ts';

const renderedName = /^rendered-(.+)-[0-9a-f]{32}$/;
const index = 'rendered config';

/** The pool that a rendered config is for, by its name. */
const poolOfRendered = (name: string): string | undefined => renderedName.exec(name)?.[1];
const poolsOfRendered = (names: readonly string[]): string[] => names.flatMap((name) => poolOfRendered(name) ?? []);

function namedByNode({ metadata: { annotations = {} } }: Node): string[] {
  const { currentConfig, desiredConfig } = nodeAnnotations;
  const names = [annotations[currentConfig], annotations[desiredConfig]];
  return [...new Set(names.filter((name) => name !== undefined))];
}

const namedByMachineSet = ({ metadata }: KubeObject): string[] =>
  Object.values(metadata.annotations ?? {}).filter((value) => renderedName.test(value));

const machineSetsThatName = {
  as: 'metadata',
  indexes: { [index]: namedByMachineSet },
  keysOf: (object: KubeObject) => poolsOfRendered(namedByMachineSet(object)),
} as const;

/** A change of who names what concerns the pools of the named configs. */
export const referringSources: readonly Source[] = [
  {
    ...fleetNodes,
    indexes: { [index]: namedByNode },
    keysOf: (node: Node) => poolsOfRendered(namedByNode(node)),
  } satisfies Source<Node>,
  { ...machineSetsThatName, resource: machineSets },
  { ...machineSetsThatName, resource: clusterApiMachineSets },
];

export const isReferenced = (read: Read, name: string): boolean =>
  [read(nodes), read(machineSets), read(clusterApiMachineSets)].some((store) => store.hasIndexed(index, name));
