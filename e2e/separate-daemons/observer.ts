// Watches the Nodes of a fleet: how many are unavailable at any moment, and how often each reboots. It reads the objects
// directly, so it does not depend on the code under test.
import { type Node, nodeAnnotations } from '@slipway/api';
import { annotationsOf, isUnavailable } from '@slipway/controllers/testing/simulation';
import type { Informer } from '@slipway/kube';

export interface Observer {
  /** The most nodes that were unavailable at the same time. */
  mostUnavailable(): number;
  /** How often each node said that it reboots. */
  readonly reboots: ReadonlyMap<string, number>;
  /** The boots of each machine, as its kubelet reports them. */
  readonly boots: ReadonlyMap<string, ReadonlySet<string>>;
  stop(): void;
}

/** Every change of a Node arrives, in the order in which the API server stored them: so no moment is missed. */
export function observe(informer: Informer<Node>): Observer {
  const out = new Set<string>();
  const reboots = new Map<string, number>();
  const boots = new Map<string, Set<string>>();
  let most = 0;

  function note(node: Node, before: Node | undefined): void {
    const { name } = node.metadata;
    if (isUnavailable(node)) out.add(name);
    else out.delete(name);
    most = Math.max(most, out.size);
    const isRebooting = (each: Node): boolean => annotationsOf(each)[nodeAnnotations.state] === 'Rebooting';
    if (before !== undefined && isRebooting(node) && !isRebooting(before)) {
      reboots.set(name, (reboots.get(name) ?? 0) + 1);
    }
    const known = boots.get(name) ?? new Set();
    boots.set(name, known.add(node.status?.nodeInfo?.bootID ?? ''));
  }

  const last = new Map<string, Node>();
  const take = (node: Node): void => {
    note(node, last.get(node.metadata.name));
    last.set(node.metadata.name, node);
  };
  for (const node of informer.store.values()) take(node);
  const stop = informer.onChange((change) => {
    if (change.type !== 'deleted') take(change.object);
  });
  return { mostUnavailable: () => most, reboots, boots, stop };
}
