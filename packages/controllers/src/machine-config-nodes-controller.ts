import {
  type MachineConfigNode,
  machineConfigNodes,
  type MachineConfigPool,
  machineConfigPools,
  type Node,
  nodeAnnotations,
  nodes,
  NOT_YET_SET,
} from '@slipway/api';
import { isEqual } from '@slipway/base/equal';
import { type ChosenPool, formatProblem, selectPool } from '@slipway/fleet';
import { anyVersion, type Context, type ControllerDef, done, type OwnerReference, type Stored } from '@slipway/kube';
import { fleetNodes } from './sources.ts';

export type NextRecord =
  | { readonly type: 'nothing' }
  /** The Node is gone, or another Node has its name. */
  | { readonly type: 'delete' }
  | {
      readonly type: 'write';
      readonly record: MachineConfigNode;
      readonly problem: (ChosenPool & { ok: false }) | null;
    };

/** What to do with the MachineConfigNode of a name. */
export function nextRecord(
  node: Stored<Node> | undefined,
  pools: Iterable<MachineConfigPool>,
  there: Stored<MachineConfigNode> | undefined,
): NextRecord {
  if (node === undefined) return { type: there === undefined ? 'nothing' : 'delete' };
  // A new machine with an old name gets a new record.
  if (there !== undefined && !belongsTo(there, node)) return { type: 'delete' };
  const chosen = selectPool(node.metadata, pools);
  const spec = buildSpec(node, chosen);
  if (there !== undefined && isSame(there.spec, spec)) return { type: 'nothing' };
  return {
    type: 'write',
    record: { metadata: { name: node.metadata.name, ownerReferences: [buildOwnerReference(node)] }, spec },
    problem: chosen.ok ? null : chosen,
  };
}

const buildSpec = (
  { metadata: { name, annotations = {} } }: Stored<Node>,
  chosen: ChosenPool,
): MachineConfigNode['spec'] => ({
  node: { name },
  pool: { name: chosen.ok ? chosen.pool : NOT_YET_SET },
  configVersion: { desired: annotations[nodeAnnotations.desiredConfig] ?? NOT_YET_SET },
});

/** A rollout updates a Node ten times, and assigns it one config. */
export const changesSpec = ({ metadata: before }: Stored<Node>, { metadata: after }: Stored<Node>): boolean =>
  before.annotations?.[nodeAnnotations.desiredConfig] !== after.annotations?.[nodeAnnotations.desiredConfig] ||
  !isEqual(before.labels, after.labels);

const belongsTo = (record: MachineConfigNode, node: Stored<Node>): boolean =>
  record.metadata.ownerReferences?.some(({ uid }) => uid === node.metadata.uid) === true;

const isSame = (a: MachineConfigNode['spec'], b: MachineConfigNode['spec']): boolean =>
  a.pool.name === b.pool.name && a.configVersion.desired === b.configVersion.desired;

const buildOwnerReference = ({ metadata: { name, uid } }: Stored<Node>): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'Node',
  name,
  uid,
});

const WORKERS = 32;

/** One MachineConfigNode per Node: created, updated and deleted with it. */
export const machineConfigNodesController = (): ControllerDef => ({
  name: 'machine-config-nodes',
  reads: [
    { ...fleetNodes, concerns: changesSpec },
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
      if (next.problem !== null && node !== undefined) reportProblem(next.problem, node, context);
    }
    if (next.type === 'delete' && there !== undefined) await remove(there, context);
    return done();
  },
});

function reportProblem({ code, message }: ChosenPool & { ok: false }, node: Stored<Node>, context: Context): void {
  context.log.warn({ code }, message);
  context.events.record(nodes, node, { type: 'Warning', reason: 'NoPool', message: formatProblem({ code, message }) });
}

/** Garbage collection also deletes it, where it runs. The UID makes both safe. */
async function remove({ metadata }: Stored<MachineConfigNode>, { write, log }: Context): Promise<void> {
  await write.remove(machineConfigNodes, anyVersion(metadata));
  log.info('deleted the MachineConfigNode of a deleted Node');
}

/** Of a pool, only its membership counts here: its status changes with every machine. */
const keepSelector = ({ metadata, spec }: Stored<MachineConfigPool>): Stored<MachineConfigPool> => ({
  metadata: { name: metadata.name, uid: metadata.uid, resourceVersion: metadata.resourceVersion },
  spec: { ...(spec.nodeSelector !== undefined && { nodeSelector: spec.nodeSelector }) },
});

/** There are thousands, and daemons update their status all the time. */
function keepSpec({ metadata, spec }: Stored<MachineConfigNode>): Stored<MachineConfigNode> {
  const { name, uid, resourceVersion, ownerReferences = [] } = metadata;
  return { metadata: { name, uid, resourceVersion, ownerReferences }, spec };
}
