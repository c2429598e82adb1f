import type { NodeAccess } from '@slipway/daemon';
import { createClient, createRecorder, impersonating, type Log, type Transport } from '@slipway/kube';

/**
 * What a machine may do in the cluster is what its own node may: it speaks as the kubelet of that node, over connections that all
 * machines share. Authorization, NodeRestriction and our admission policies look at it as they look at a real one.
 */
export function createNodeAccess(transport: Transport, log: Log): (nodeName: string) => NodeAccess {
  const known = new Map<string, NodeAccess>();
  return (nodeName) => {
    const before = known.get(nodeName);
    if (before !== undefined) return before;
    const identity = { user: `system:node:${nodeName}`, groups: ['system:nodes'] };
    const client = createClient(impersonating(transport, identity));
    const events = createRecorder(client, { component: 'machine-config-daemon', instance: nodeName, log });
    const access = { client, events };
    known.set(nodeName, access);
    return access;
  };
}
