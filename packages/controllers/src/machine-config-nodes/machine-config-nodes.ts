import { machineConfigNodes, machineConfigPools, nodes } from '@slipway/api';
import type { MachineConfigNode, MachineConfigPool, Node } from '@slipway/api';
import type { ChosenPool } from '@slipway/fleet';
import { anyVersion, type Context, type ControllerDef, done, type Stored } from '@slipway/kube';
import { fleetNodes } from '../fleet-nodes.ts';
import { nextRecord } from './next-record.ts';

const WORKERS = 32;

/** One MachineConfigNode for each Node: made with it, kept at what the controllers want of it, gone with it. */
export const machineConfigNodesController = (): ControllerDef => ({
  name: 'machine-config-nodes',
  reads: [
    fleetNodes,
    { resource: machineConfigNodes, expect: 'many', project: keepSpec },
    {
      resource: machineConfigPools,
      project: keepSelector,
      keysOf: (_, read) => [...read(nodes).values()].map(({ metadata }) => metadata.name),
    },
  ],
  owns: [{ resource: machineConfigNodes }],
  workers: WORKERS,
  async reconcile(name, context) {
    const { read, write } = context;
    const node = read(nodes).get(name);
    const there = read(machineConfigNodes).get(name);
    const next = nextRecord(node, read(machineConfigPools).values(), there);
    if (next.type === 'write') {
      if (there === undefined) await write.create(machineConfigNodes, next.record);
      else await write.apply(machineConfigNodes, there, next.record, { force: true });
      if (next.problem !== null && node !== undefined) tellProblem(next.problem, node, context);
    }
    if (next.type === 'delete' && there !== undefined) await remove(there, context);
    return done();
  },
});

function tellProblem({ code, message }: ChosenPool & { ok: false }, node: Stored<Node>, context: Context): void {
  context.log.warn({ code }, message);
  context.events.record(nodes, node, { type: 'Warning', reason: 'NoPool', message: `${message} [${code}]` });
}

/** Garbage collection does it too, where it runs; with the UID, both may. */
async function remove({ metadata }: Stored<MachineConfigNode>, { write, log }: Context): Promise<void> {
  await write.remove(machineConfigNodes, anyVersion(metadata));
  log.info('removed the MachineConfigNode of a Node that is gone');
}

/** Which pool a Node is in is all that a pool is asked: its status changes with every machine. */
const keepSelector = ({ metadata, spec }: Stored<MachineConfigPool>): Stored<MachineConfigPool> => ({
  metadata: { name: metadata.name, uid: metadata.uid, resourceVersion: metadata.resourceVersion },
  spec: { ...(spec.nodeSelector !== undefined && { nodeSelector: spec.nodeSelector }) },
});

/** There are thousands, and daemons write to their status all the time. */
function keepSpec({ metadata, spec }: Stored<MachineConfigNode>): Stored<MachineConfigNode> {
  const { name, uid, resourceVersion, ownerReferences = [] } = metadata;
  return { metadata: { name, uid, resourceVersion, ownerReferences }, spec };
}
