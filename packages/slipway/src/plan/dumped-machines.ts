// Nodes, pods, budgets and rendered configs out of a dump of a cluster, as `kubectl get -o json` writes it.
import { nodes, podDisruptionBudgets, pods, renderedPrefix } from '@slipway/api';
import type { MachineConfig, Node, Pod, PodDisruptionBudget } from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import type { PlannedConfig } from '@slipway/fleet';
import type { Stored } from '@slipway/kube';
import type { ManifestDocument } from '../manifests/documents.ts';
import { headerOf } from '../manifests/fleet-manifests.ts';

export interface Dump {
  readonly nodes: readonly Node[];
  readonly pods: readonly Stored<Pod>[];
  readonly budgets: readonly PodDisruptionBudget[];
}

export const dumpedKinds: readonly string[] = [nodes.kind, pods.kind, podDisruptionBudgets.kind];

/** What is not as the API server would have given it is left out, and said. */
export function machinesIn(documents: readonly ManifestDocument[]): { dump: Dump; problems: string[] } {
  const problems: string[] = [];
  const take = <T>(resource: { group: string; kind: string }, isIt: (value: unknown) => value is T): T[] =>
    documents.flatMap(({ place, value }) => {
      const { group, kind } = headerOf(value);
      if (group !== resource.group || kind !== resource.kind) return [];
      if (isIt(value)) return [value];
      problems.push(`${place}: ${kind}: expected an object as the API server gives it, found something else`);
      return [];
    });
  return {
    dump: {
      nodes: take(nodes, isNode),
      pods: take(pods, isPod),
      budgets: take(podDisruptionBudgets, isBudget),
    },
    problems,
  };
}

/** By name. */
export const renderedIn = (machineConfigs: readonly MachineConfig[]): Map<string, PlannedConfig['spec']> =>
  new Map(
    machineConfigs
      .filter(({ metadata }) => metadata.name.startsWith(renderedPrefix))
      .map(({ metadata, spec }) => [metadata.name, spec ?? {}]),
  );

const isText = (value: unknown): value is string => typeof value === 'string';
const isAbsentOr =
  (isIt: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || isIt(value);
const isListOf =
  (isIt: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.every((each: unknown) => isIt(each));
const isTextMap = (value: unknown): boolean => isRecord(value) && Object.values(value).every(isText);

type Checks = Readonly<Record<string, (value: unknown) => boolean>>;

/** A field that `checks` does not name may be anything: nobody looks at it. */
const isObject =
  (checks: Checks) =>
  (value: unknown): boolean =>
    isRecord(value) && Object.entries(checks).every(([field, isIt]) => isIt(value[field]));

const metadata = isObject({
  name: isText,
  uid: isText,
  resourceVersion: isText,
  namespace: isAbsentOr(isText),
  labels: isAbsentOr(isTextMap),
  annotations: isAbsentOr(isTextMap),
  creationTimestamp: isAbsentOr(isText),
  deletionTimestamp: isAbsentOr(isText),
  ownerReferences: isAbsentOr(isListOf(isObject({ kind: isText, name: isText }))),
});
const conditions = isAbsentOr(isListOf(isObject({ type: isText, status: isText })));
const node = isObject({
  metadata,
  spec: isAbsentOr(isRecord),
  status: isAbsentOr(isObject({ conditions, nodeInfo: isAbsentOr(isRecord) })),
});
const pod = isObject({
  metadata,
  spec: isAbsentOr(isObject({ nodeName: isAbsentOr(isText) })),
  status: isAbsentOr(isObject({ phase: isAbsentOr(isText) })),
});
const requirement = isObject({ key: isText, operator: isText, values: isAbsentOr(isListOf(isText)) });
const selector = isObject({ matchLabels: isAbsentOr(isTextMap), matchExpressions: isAbsentOr(isListOf(requirement)) });
const budget = isObject({
  metadata,
  spec: isAbsentOr(isObject({ selector: isAbsentOr(selector) })),
  status: isAbsentOr(isRecord),
});

const isNode = (value: unknown): value is Node => node(value);
const isPod = (value: unknown): value is Stored<Pod> => pod(value);
const isBudget = (value: unknown): value is PodDisruptionBudget => budget(value);
