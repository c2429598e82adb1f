// The Node of a simulated machine: what it is made as, and what the stand-in for its kubelet says of it.
import type { Node, NodeCondition } from '@slipway/api';
import type { MachineName } from './machine-name.ts';

export interface MachineFacts {
  readonly isUp: boolean;
  readonly bootId: string;
  /** Such as `Simulated machine 9.6`. */
  readonly osImage: string;
}

const ZONES = 3;
/** In the place of a version: `kubectl get nodes` shows it. */
const VERSION = 'v0.0.0-simulated';

export const nodeOf = (machine: MachineName): Node => ({
  metadata: {
    name: machine.name,
    labels: {
      'kubernetes.io/hostname': machine.name,
      'kubernetes.io/os': 'linux',
      'topology.kubernetes.io/zone': `zone-${(machine.number % ZONES) + 1}`,
      ...roleLabels(machine),
    },
  },
});

export const statusOf = ({ isUp, bootId, osImage }: MachineFacts, now: Date): NonNullable<Node['status']> => ({
  conditions: [readyCondition(isUp, now)],
  nodeInfo: { bootID: bootId, osImage, kernelVersion: 'simulated', kubeletVersion: VERSION },
});

function readyCondition(isUp: boolean, now: Date): NodeCondition {
  const at = `${now.toISOString().slice(0, 19)}Z`;
  return {
    type: 'Ready',
    status: isUp ? 'True' : 'False',
    reason: isUp ? 'KubeletReady' : 'KubeletNotReady',
    message: isUp ? 'a simulated machine: no kubelet runs here' : 'the simulated machine is down',
    lastHeartbeatTime: at,
    lastTransitionTime: at,
  };
}

const ROLE = 'node-role.kubernetes.io/';

/** Machines of custom pools are workers first. */
const roleLabels = ({ pool }: MachineName): Record<string, string> => ({
  ...(pool !== 'master' && { [`${ROLE}worker`]: '' }),
  [`${ROLE}${pool}`]: '',
});
