// The status of a MachineConfigNode.
import type { MachineConfigNode } from '@slipway/api';
import { notYetSet } from '@slipway/api/names';
import type { Condition } from '@slipway/kube';
import { conditionsOf } from './conditions.ts';
import { type IrreconcilableChange, irreconcilableChangesOf } from './irreconcilable-changes.ts';
import type { NodeSnapshot } from './snapshot.ts';

export interface StatusPatch {
  readonly observedGeneration: number;
  readonly conditions: readonly Condition[];
  readonly configVersion: { readonly current?: string; readonly desired: string };
  /** Null: there are none, and the field goes. */
  readonly irreconcilableChanges: readonly IrreconcilableChange[] | null;
}

export function statusOf(
  { metadata, status }: Pick<MachineConfigNode, 'metadata' | 'status'>,
  snapshot: NodeSnapshot,
  now: Date,
): StatusPatch {
  const { currentConfig, desiredConfig } = snapshot;
  const changes = irreconcilableChangesOf(snapshot.irreconcilable);
  const current = currentConfig ?? status?.configVersion?.current;
  return {
    observedGeneration: metadata.generation ?? 1,
    conditions: conditionsOf(status?.conditions, snapshot, now),
    configVersion: { ...(current !== undefined && { current }), desired: desiredConfig ?? notYetSet },
    irreconcilableChanges: changes.length === 0 ? null : changes,
  };
}
