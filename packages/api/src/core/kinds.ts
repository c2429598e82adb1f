import type { ObjectMeta } from '../object-meta.ts';
import type { Resource } from '../kind.ts';

// Built-in Kubernetes kinds, with the fields that we read or write. kube-apiserver has their schemas.

export interface Secret {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  type?: string;
  immutable?: boolean;
  /** Base64. */
  data?: Record<string, string>;
  /** Write-only: the server moves it to `data`. */
  stringData?: Record<string, string>;
}

export interface ConfigMap {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}

export interface Namespace {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
}

export interface Node {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec?: { unschedulable?: boolean; taints?: { key: string; value?: string; effect: string }[]; providerID?: string };
  status?: {
    conditions?: NodeCondition[];
    nodeInfo?: {
      osImage?: string;
      architecture?: string;
      bootID?: string;
      kernelVersion?: string;
      kubeletVersion?: string;
    };
  };
}

export interface NodeCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  lastHeartbeatTime?: string;
}

export interface Pod {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec?: {
    nodeName?: string;
    terminationGracePeriodSeconds?: number;
    containers?: { name: string; image?: string }[];
    volumes?: { name: string; emptyDir?: object }[];
  };
  status?: { phase?: string; conditions?: NodeCondition[] };
}

export interface PodDisruptionBudget {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  spec?: { minAvailable?: number | string; maxUnavailable?: number | string; selector?: LabelSelector };
  status?: {
    disruptionsAllowed?: number;
    currentHealthy?: number;
    desiredHealthy?: number;
    expectedPods?: number;
    observedGeneration?: number;
    /** Pods that still run although their eviction was allowed, by name, and since when. */
    disruptedPods?: Record<string, string>;
  };
}

/** A CRD in the cluster. crd.ts builds those that we install. */
export interface InstalledCrd {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta & { managedFields?: { manager?: string; subresource?: string }[] };
  spec?: object;
  status?: { conditions?: { type: string; status: string }[] };
}

/** core/v1, as `kubectl describe` reads it. */
export interface Event {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  type?: string;
  reason: string;
  message: string;
  count?: number;
  involvedObject: { apiVersion?: string; kind?: string; namespace?: string; name?: string; uid?: string };
}

interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

const core = { group: '', version: 'v1' } as const;

export const secrets: Resource<Secret> = { ...core, kind: 'Secret', plural: 'secrets', namespaced: true };
export const configMaps: Resource<ConfigMap> = { ...core, kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
export const namespaces: Resource<Namespace> = { ...core, kind: 'Namespace', plural: 'namespaces', namespaced: false };
export const nodes: Resource<Node> = { ...core, kind: 'Node', plural: 'nodes', namespaced: false };
export const pods: Resource<Pod> = { ...core, kind: 'Pod', plural: 'pods', namespaced: true };
export const events: Resource<Event> = { ...core, kind: 'Event', plural: 'events', namespaced: true };
export const customResourceDefinitions: Resource<InstalledCrd> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
export const podDisruptionBudgets: Resource<PodDisruptionBudget> = {
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  namespaced: true,
};
