import { machineConfigNodes, machineConfigPools, nodeAnnotations, nodes } from '@slipway/api';
import type { MachineConfigNode, Node } from '@slipway/api';
import { type Context, type ControllerDef, done, isKubeError, type Stored } from '@slipway/kube';
import { nextRecord } from './next-record.ts';

const fieldManager = 'slipway-machine-config-nodes';

/** One MachineConfigNode for each Node: made with it, kept at what the controllers want of it, gone with it. */
export const machineConfigNodesController: ControllerDef = {
  name: 'machine-config-nodes',
  reads: [
    { resource: nodes, as: 'metadata', expect: 'many', project: keepWhatDecides },
    { resource: machineConfigNodes, expect: 'many', project: keepSpec },
    {
      resource: machineConfigPools,
      keysOf: (_, read) => [...read(nodes).values()].map(({ metadata }) => metadata.name),
    },
  ],
  owns: [{ resource: machineConfigNodes }],
  workers: 8,
  async reconcile(name, context) {
    const { read } = context;
    const node = read(nodes).get(name);
    const there = read(machineConfigNodes).get(name);
    const next = nextRecord(node, read(machineConfigPools).values(), there);
    if (next.type === 'write') {
      await context.client.apply(machineConfigNodes, next.record, {}, { fieldManager, force: true });
      if (next.problem !== null && node !== undefined) {
        context.log.warn({ code: next.problem.code }, next.problem.message);
        const message = `${next.problem.message} [${next.problem.code}]`;
        context.events.record(nodes, node, { type: 'Warning', reason: 'NoPool', message });
      }
    }
    if (next.type === 'delete' && there !== undefined) await remove(there, context);
    return done();
  },
};

/** Garbage collection does it too, where it runs; with the UID, both may. */
async function remove({ metadata }: Stored<MachineConfigNode>, { client, log }: Context): Promise<void> {
  await client.delete(machineConfigNodes, metadata, { uid: metadata.uid }).catch((error: unknown) => {
    if (!isKubeError(error, 'SLW_KUBE_NOT_FOUND', 'SLW_KUBE_CONFLICT')) throw error;
  });
  log.info('removed the MachineConfigNode of a Node that is gone');
}

/** There are thousands of both, and kubelets write to a Node all the time. */
function keepWhatDecides({ metadata, ...rest }: Stored<Node>): Stored<Node> {
  const { name, uid, resourceVersion, labels = {}, annotations = {} } = metadata;
  const desired = annotations[nodeAnnotations.desiredConfig];
  const kept = desired === undefined ? {} : { [nodeAnnotations.desiredConfig]: desired };
  return { ...rest, metadata: { name, uid, resourceVersion, labels, annotations: kept } };
}

function keepSpec({ metadata, spec }: Stored<MachineConfigNode>): Stored<MachineConfigNode> {
  const { name, uid, resourceVersion, ownerReferences = [] } = metadata;
  return { metadata: { name, uid, resourceVersion, ownerReferences }, spec };
}
