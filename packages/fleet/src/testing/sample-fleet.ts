// A fleet for tests.
import {
  type MachineConfigNode,
  machineConfigNodeKind,
  type MachineConfigPool,
  type MachineConfiguration,
  type Node,
  nodeAnnotations,
  stopRolloutsAnnotation,
} from '@slipway/api';
import type { Stored } from '../kube-object.ts';
import type { FleetSnapshot } from '../reports/fleet-snapshot.ts';

const identity = { uid: 'u', resourceVersion: '1' };

export interface SampleNode {
  readonly current?: string;
  readonly desired?: string;
  readonly state?: string;
  readonly reason?: string;
  readonly isReady?: boolean;
  readonly isCordoned?: boolean;
  readonly roles?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A healthy node at rendered-worker-1 by default. */
export function sampleNode(name: string, more: SampleNode = {}): Stored<Node> {
  const { current = 'rendered-worker-1', desired = current, state = 'Done', reason = '', roles = ['worker'] } = more;
  return {
    metadata: {
      ...identity,
      name,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: Object.fromEntries(roles.map((role) => [`node-role.kubernetes.io/${role}`, ''])),
      annotations: {
        [nodeAnnotations.currentConfig]: current,
        [nodeAnnotations.desiredConfig]: desired,
        [nodeAnnotations.state]: state,
        [nodeAnnotations.reason]: reason,
        ...more.annotations,
      },
    },
    spec: { ...(more.isCordoned === true && { unschedulable: true }) },
    status: { conditions: [{ type: 'Ready', status: more.isReady === false ? 'False' : 'True' }] },
  };
}

export interface SamplePool {
  readonly target?: string;
  readonly proven?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly paused?: boolean;
}

export function sampleMachineConfigPool(name: string, more: SamplePool = {}): Stored<MachineConfigPool> {
  const { target = `rendered-${name}-2`, proven = `rendered-${name}-1`, annotations = {}, paused = false } = more;
  return {
    metadata: { ...identity, name, annotations: { ...annotations } },
    spec: {
      nodeSelector: { matchLabels: { [`node-role.kubernetes.io/${name}`]: '' } },
      configuration: { name: target },
      paused,
    },
    status: { configuration: { name: proven } },
  };
}

export interface SampleFleet {
  readonly pools?: readonly Stored<MachineConfigPool>[];
  readonly nodes: readonly Stored<Node>[];
  readonly records?: readonly MachineConfigNode[];
  /** The reason of the fleet-wide stop. */
  readonly stopped?: string;
}

export function sampleFleet({
  pools = [sampleMachineConfigPool('worker')],
  nodes,
  records = [],
  stopped,
}: SampleFleet): FleetSnapshot {
  const machineConfiguration: MachineConfiguration | undefined =
    stopped === undefined
      ? undefined
      : { metadata: { name: 'cluster', annotations: { [stopRolloutsAnnotation]: stopped } }, spec: {} };
  return {
    pools,
    nodes,
    machineConfigNodes: new Map(records.map((record) => [record.metadata.name, record])),
    machineConfiguration,
  };
}

/** A MachineConfigNode in this step. */
export const recordIn = (node: string, condition: string): MachineConfigNode => ({
  apiVersion: `${machineConfigNodeKind.group}/v1`,
  metadata: { name: node },
  spec: { node: { name: node }, pool: { name: 'worker' }, configVersion: { desired: 'rendered-worker-2' } },
  status: {
    conditions: [
      {
        type: condition,
        status: 'Unknown',
        reason: condition,
        message: '',
        lastTransitionTime: '2026-01-02T03:04:05Z',
      },
    ],
  },
});
