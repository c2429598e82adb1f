// Tells the cluster of the node, and remembers what it was told.
import type { LocalNode } from './local-node.ts';
import { annotationsOf, changedAnnotations } from './report/node-annotations.ts';
import type { Reporter } from './report/reporter.ts';
import type { NodeSnapshot } from './report/snapshot.ts';
import { type Seen, saidBy } from './seen.ts';

export interface Teller {
  /** What is left out: the machine is at its config, and there is nothing to say. `seen` null: whatever the cluster says. */
  tell(this: void, more: Partial<NodeSnapshot>, seen: Seen | null): Promise<void>;
}

export function createTeller(local: LocalNode, reporter: Reporter): Teller {
  let desiredConfig: string | null = null;
  let told = '';

  return {
    async tell(more, seen) {
      if (seen !== null) ({ desiredConfig } = saidBy(seen));
      const snapshot: NodeSnapshot = {
        currentConfig: local.current()?.name ?? null,
        desiredConfig,
        phase: 'idle',
        update: local.memory().update ?? null,
        problem: null,
        desiredDrain: null,
        irreconcilable: local.memory().lacks ?? [],
        ...more,
      };
      if (isToldAlready(snapshot, seen)) return;
      await reporter.report(snapshot);
      told = fingerprintOf(snapshot, seen);
      const { currentConfig } = snapshot;
      if (currentConfig !== null) await local.remember({ ...local.memory(), reported: currentConfig });
    },
  };

  /** Then nothing is asked and nothing written: a Node changes every few seconds. */
  function isToldAlready(snapshot: NodeSnapshot, seen: Seen | null): boolean {
    if (seen === null || told !== fingerprintOf(snapshot, seen)) return false;
    const { annotations = {} } = seen.node.metadata;
    return Object.keys(changedAnnotations(annotations, annotationsOf(snapshot))).length === 0;
  }
}

function fingerprintOf(snapshot: NodeSnapshot, seen: Seen | null): string {
  const { uid, generation } = seen?.machineConfigNode?.metadata ?? {};
  return JSON.stringify([snapshot, seen?.node.metadata.uid, uid, generation]);
}
