// What the drain controller promises, held against each of its writes: it empties who asks for it, once, and gives back what it
// took.
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
  /** Somebody else has let go what it had cordoned: it may do that again. */
  wasUncordoned(uid: string): void;
}

/** By their number: the wish that a node has now, and those that were answered and cordoned for last. */
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
    if (!isBeingDrained(node)) report(`${name}: cordoned, and nobody asked for a drain`);
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
      // Between the controller's last look and the eviction the node may have changed its mind.
      const asked = [api.find(nodes, { name }), run.saw(nodes).get(name)];
      if (asked.some((node) => node !== undefined && isBeingDrained(node))) return;
      report(`${name}: ${pod.metadata.name} was evicted, and nobody asked for a drain`);
    },
    wasUncordoned(uid) {
      getRequestCounts(uid).cordoned = -1;
    },
  };
}
