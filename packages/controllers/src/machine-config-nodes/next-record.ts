import { nodeAnnotations, notYetSet } from '@slipway/api';
import type { MachineConfigNode, MachineConfigPool, Node } from '@slipway/api';
import { poolOf, type ChosenPool } from '@slipway/fleet';
import type { OwnerReference, Stored } from '@slipway/kube';

export type NextRecord =
  | { readonly type: 'nothing' }
  /** There is no such Node any more, or it is another one of the same name. */
  | { readonly type: 'delete' }
  | {
      readonly type: 'write';
      readonly record: MachineConfigNode;
      readonly problem: (ChosenPool & { ok: false }) | null;
    };

/** What becomes of the MachineConfigNode of a name. */
export function nextRecord(
  node: Stored<Node> | undefined,
  pools: Iterable<MachineConfigPool>,
  there: Stored<MachineConfigNode> | undefined,
): NextRecord {
  if (node === undefined) return { type: there === undefined ? 'nothing' : 'delete' };
  // A new machine under an old name begins a record of its own.
  if (there !== undefined && !belongsTo(there, node)) return { type: 'delete' };
  const chosen = poolOf(node.metadata, pools);
  const spec = specOf(node, chosen);
  if (there !== undefined && isSame(there.spec, spec)) return { type: 'nothing' };
  return {
    type: 'write',
    record: { metadata: { name: node.metadata.name, ownerReferences: [ownerOf(node)] }, spec },
    problem: chosen.ok ? null : chosen,
  };
}

const specOf = (
  { metadata: { name, annotations = {} } }: Stored<Node>,
  chosen: ChosenPool,
): MachineConfigNode['spec'] => ({
  node: { name },
  pool: { name: chosen.ok ? chosen.pool : notYetSet },
  configVersion: { desired: annotations[nodeAnnotations.desiredConfig] ?? notYetSet },
});

const belongsTo = (record: MachineConfigNode, node: Stored<Node>): boolean =>
  record.metadata.ownerReferences?.some(({ uid }) => uid === node.metadata.uid) === true;

const isSame = (a: MachineConfigNode['spec'], b: MachineConfigNode['spec']): boolean =>
  a.pool.name === b.pool.name && a.configVersion.desired === b.configVersion.desired;

const ownerOf = ({ metadata: { name, uid } }: Stored<Node>): OwnerReference => ({
  apiVersion: 'v1',
  kind: 'Node',
  name,
  uid,
});
