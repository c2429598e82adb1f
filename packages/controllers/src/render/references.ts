// Who names rendered configs: nodes and MachineSets, in their annotations, and in nothing else that we read.
import { clusterApiMachineSets, machineSets, nodeAnnotations, nodes } from '@slipway/api';
import type { KubeObject, Read, Source, Stored } from '@slipway/kube';

const renderedName = /^rendered-(.+)-[0-9a-f]{32}$/;
const index = 'rendered config';
const configAnnotations: ReadonlySet<string> = new Set([nodeAnnotations.currentConfig, nodeAnnotations.desiredConfig]);

/** The pool that a rendered config is for, by its name. */
export const poolOfRendered = (name: string): string | undefined => renderedName.exec(name)?.[1];

function namedBy({ metadata }: KubeObject): string[] {
  return Object.values(metadata.annotations ?? {}).filter((value) => renderedName.test(value));
}

const shared = {
  as: 'metadata',
  indexes: { [index]: namedBy },
  keysOf: (object: KubeObject) => namedBy(object).flatMap((name) => poolOfRendered(name) ?? []),
} as const;

/** There are thousands of nodes, and all we ask of one is which configs it names. */
function keepConfigAnnotations<T extends KubeObject>({ metadata, ...rest }: Stored<T>): Stored<T> {
  const { name, uid, resourceVersion, annotations = {} } = metadata;
  const kept = Object.fromEntries(Object.entries(annotations).filter(([key]) => configAnnotations.has(key)));
  return { ...rest, metadata: { name, uid, resourceVersion, annotations: kept } } as Stored<T>;
}

/** A change of who names what concerns the pools of the named configs. */
export const referringSources: readonly Source[] = [
  { ...shared, resource: nodes, expect: 'many', project: keepConfigAnnotations },
  { ...shared, resource: machineSets },
  { ...shared, resource: clusterApiMachineSets },
];

const storesOf = (read: Read) => [read(nodes), read(machineSets), read(clusterApiMachineSets)];

export const isReferenced = (read: Read, name: string): boolean =>
  storesOf(read).some((store) => store.byIndex(index, name).length > 0);

/** Every rendered config that somebody names. */
export function referringNames(read: Read): string[] {
  const names = new Set<string>();
  for (const store of storesOf(read))
    for (const object of store.values()) for (const name of namedBy(object)) names.add(name);
  return [...names];
}
