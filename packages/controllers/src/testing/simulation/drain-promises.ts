// What the drain controller promises, checked on each of its writes: it drains a node that requests it, once, and
// undoes its own cordon.
import { type Node, nodeAnnotations, nodes, type Pod } from '@slipway/api';
import type { Stored } from '@slipway/kube';
import type { Run } from './controller-process.ts';
import { annotationsOf, isBeingDrained, isCordoned } from './fleet-rules.ts';
import type { MemoryApi } from './memory-api.ts';

export interface DrainPromises {
  /** A change of a Node by its daemon. */
  onDaemon(node: Stored<Node>, old: Stored<Node>): void;
  /** A write of the drain controller to a Node. */
  onWrite(node: Stored<Node>, old: Stored<Node>): void;
  onEviction(pod: Stored<Pod>, run: Run): void;
  /** Another client lifted our cordon: the controller may cordon again. */
  wasUncordoned(uid: string): void;
}

/** Request numbers per node: the current request, and the last ones answered and cordoned for. */
interface DrainRequestCounts {
  now: number;
  answered: number;
  cordoned: number;
}

const { desiredDrain, lastAppliedDrain } = nodeAnnotations;

export function createDrainPromises(api: MemoryApi, report: (what: string) => void): DrainPromises {
  const byUid = new Map<string, DrainRequestCounts>();
  const getRequestCounts = (uid: string): DrainRequestCounts => {
    const wishes = byUid.get(uid) ?? { now: 0, answered: 0, cordoned: 0 };
    byUid.set(uid, wishes);
    return wishes;
  };

  function onAnswer(node: Stored<Node>): void {
    const { name, uid } = node.metadata;
    const { [desiredDrain]: wanted, [lastAppliedDrain]: answer } = annotationsOf(node);
    const wishes = getRequestCounts(uid);
    if (answer !== wanted) report(`${name}: ${answer} was not asked for`);
    if (wishes.answered === wishes.now) report(`${name}: ${answer} was answered twice`);
    wishes.answered = wishes.now;
  }

  function onCordon(node: Stored<Node>): void {
    const { name, uid } = node.metadata;
    const wishes = getRequestCounts(uid);
    if (!isBeingDrained(node)) report(`${name}: cordoned without a drain request`);
    if (wishes.cordoned === wishes.now) report(`${name}: cordoned twice for one drain`);
    wishes.cordoned = wishes.now;
  }

  return {
    onDaemon(node, old) {
      if (annotationsOf(node)[desiredDrain] !== annotationsOf(old)[desiredDrain])
        getRequestCounts(node.metadata.uid).now += 1;
    },
    onWrite(node, old) {
      if (annotationsOf(node)[lastAppliedDrain] !== annotationsOf(old)[lastAppliedDrain]) onAnswer(node);
      if (isCordoned(node) && !isCordoned(old)) onCordon(node);
    },
    onEviction(pod, run) {
      const name = pod.spec?.nodeName ?? '';
      // Between the controller's last read and the eviction, the request of the node may have changed.
      const asked = [api.find(nodes, { name }), run.saw(nodes).get(name)];
      if (asked.some((node) => node !== undefined && isBeingDrained(node))) return;
      report(`${name}: ${pod.metadata.name} was evicted without a drain request`);
    },
    wasUncordoned(uid) {
      getRequestCounts(uid).cordoned = -1;
    },
  };
}
