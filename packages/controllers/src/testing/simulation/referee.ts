// Watches every change of a simulated cluster and says when a promise was broken.
//
// A controller decides on what its views showed when a reconcile began, and a view may be behind. So at the moment of each
// write that takes a working machine out of service these count against maxUnavailable:
// - machines out of service through our doing (told to change and not done, or cordoned by us), whatever the view showed: a
//   controller knows its own writes, or has to wait until it sees them;
// - machines out of service for another reason (not ready, cordoned by a person, degraded) that were so in the view too.
// Only machines count that are in the pool, and were so in the view. maxUnavailable itself, the size of the pool that a
// percentage is of, `paused` and the stop switch are those of the view.
import {
  type MachineConfigPool,
  machineConfigPools,
  machineConfigurations,
  type Node,
  nodeAnnotations,
  nodes,
  type Pod,
  pods,
  stopRolloutsAnnotation,
} from '@slipway/api';
import { poolOf } from '@slipway/fleet';
import { resourceId, type Stored, type WriteAttempt } from '@slipway/kube';
import type { Run } from './controller-process.ts';
import {
  allowedOut,
  annotationsOf,
  haltedTarget,
  isBeingDrained,
  isControlPlane,
  isCordoned,
  isOutThroughUs,
  isUnavailable,
} from './fleet-rules.ts';
import type { LoggedChange, MemoryApi } from './memory-api.ts';

export interface Referee {
  /** Each in words; empty: every promise was kept. */
  readonly violations: readonly string[];
  readonly changes: number;
  /** Has a write carried out, and knows whose it is. */
  by<T>(run: Run, write: WriteAttempt, carryOut: () => T): T;
  /** A person has cordoned this Node, or let it go. */
  personCordons(uid: string, isCordoned: boolean): void;
  isCordonedByPeople(uid: string): boolean;
  report(what: string): void;
}

interface Writer {
  readonly run: Run;
  readonly write: WriteAttempt;
  changed: boolean;
}

type Pools = ReadonlyMap<string, Stored<MachineConfigPool>>;
type Nodes = ReadonlyMap<string, Stored<Node>>;

const { desiredConfig, desiredDrain, lastAppliedDrain } = nodeAnnotations;
const MOST = 20;

export function createReferee(api: MemoryApi, now: () => number): Referee {
  const violations: string[] = [];
  const cordonedByPeople = new Set<string>();
  /** By UID: the drain that was answered, and for which wish of the node. */
  const wishes = new Map<string, { count: number; answered: number; cordoned: number }>();
  const uncordonedByPeople = new Set<string>();
  let writer: Writer | null = null;
  let changes = 0;

  function report(what: string): void {
    if (violations.length < MOST) violations.push(`${new Date(now()).toISOString()} ${what}`);
  }

  function onNode(node: Stored<Node>, old: Stored<Node> | undefined): void {
    const { name, uid } = node.metadata;
    if (cordonedByPeople.has(uid) && !isCordoned(node))
      report(`${name}: a person had cordoned it, and it was uncordoned`);
    if (old === undefined || old.metadata.uid !== uid) return;
    checkDrain(node, old);
    if (writer?.run.controller === 'rollout') checkGift(node, old, writer.run);
  }

  function checkDrain(node: Stored<Node>, old: Stored<Node>): void {
    const { name, uid } = node.metadata;
    const [is, was] = [annotationsOf(node), annotationsOf(old)];
    const wish = wishes.get(uid) ?? { count: 0, answered: 0, cordoned: 0 };
    wishes.set(uid, wish);
    if (is[desiredDrain] !== was[desiredDrain]) wish.count += 1;
    if (writer?.run.controller !== 'drain') return;
    if (is[lastAppliedDrain] !== was[lastAppliedDrain]) {
      if (is[lastAppliedDrain] !== is[desiredDrain]) report(`${name}: ${is[lastAppliedDrain]} was not asked for`);
      if (wish.answered === wish.count) report(`${name}: ${is[lastAppliedDrain]} was answered twice`);
      wish.answered = wish.count;
    }
    if (isCordoned(node) && !isCordoned(old)) {
      if (!isBeingDrained(node)) report(`${name}: cordoned, and nobody asked for a drain`);
      if (wish.cordoned === wish.count && !uncordonedByPeople.delete(uid))
        report(`${name}: cordoned twice for one drain`);
      wish.cordoned = wish.count;
    }
  }

  function checkGift(node: Stored<Node>, old: Stored<Node>, run: Run): void {
    const { name } = node.metadata;
    const target = annotationsOf(node)[desiredConfig];
    if (target === annotationsOf(old)[desiredConfig]) return report(`${name}: written to, and the target is the same`);
    const seen = run.saw(machineConfigPools);
    const pool = seen.get(run.key);
    if (pool === undefined) return report(`${name}: given ${target} for the pool ${run.key}, which was not seen`);
    if (pool.spec.paused === true) report(`${name}: given ${target} while ${run.key} was paused`);
    const switches = run.saw(machineConfigurations).get('cluster');
    if (switches?.metadata.annotations?.[stopRolloutsAnnotation] !== undefined) {
      report(`${name}: given ${target} while rollouts were stopped`);
    }
    if (haltedTarget(pool) === target) report(`${name}: given ${target} while that was halted`);
    if (!isUnavailable(old) && isUnavailable(node)) checkRoom(name, pool, run);
  }

  function checkRoom(name: string, pool: Stored<MachineConfigPool>, run: Run): void {
    const seen: Seen = { pools: run.saw(machineConfigPools), nodes: run.saw(nodes) };
    const key = pool.metadata.name;
    const isPeer = (other: string | undefined): boolean =>
      other === key || (other !== undefined && isControlPlane(key) && isControlPlane(other));
    const out = [...seen.nodes.values()].filter((before) => {
      if (before.metadata.name === name || !isPeer(poolNameOf(before, seen.pools))) return false;
      const real = api.find(nodes, before.metadata);
      if (real === undefined || real.metadata.uid !== before.metadata.uid) return false;
      if (!isPeer(poolNameOf(real, seen.pools))) return false;
      return isUnavailable(real) && (isOutThroughUs(real) || isUnavailable(before));
    });
    const machines = [...seen.nodes.values()].filter((node) => poolNameOf(node, seen.pools) === key).length;
    const allowed = allowedOut(pool, machines);
    if (out.length + 1 <= allowed) return;
    const others = out.map(({ metadata }) => metadata.name).join(', ');
    report(`${name}: taken out of service in ${key}, where ${allowed} may be and ${out.length} were: ${others}`);
  }

  function onEviction(pod: Stored<Pod>, run: Run): void {
    const name = pod.spec?.nodeName ?? '';
    const now = api.find(nodes, { name });
    const before = run.saw(nodes).get(name);
    const isAsked = [now, before].some((node) => node !== undefined && isBeingDrained(node));
    if (!isAsked) report(`${name}: ${pod.metadata.name} was evicted, and nobody asked for a drain`);
  }

  api.onChange((change: LoggedChange) => {
    changes += 1;
    if (writer !== null) writer.changed = true;
    if (resourceId(change.resource) === resourceId(nodes) && change.type !== 'DELETED') {
      onNode(change.object as Stored<Node>, change.old as Stored<Node> | undefined);
    }
    if (resourceId(change.resource) === resourceId(pods) && writer?.write.verb === 'evict') {
      onEviction(change.object as Stored<Pod>, writer.run);
    }
  });

  return {
    violations,
    get changes() {
      return changes;
    },
    by(run, write, carryOut) {
      const own: Writer = { run, write, changed: false };
      writer = own;
      try {
        const result = carryOut();
        if (!own.changed && write.verb === 'patch')
          report(
            `${run.controller}: a write to ${write.resource.kind} ${write.name.name} ${write.subresource ?? ''} changed nothing`,
          );
        return result;
      } finally {
        writer = null;
      }
    },
    personCordons(uid, cordons) {
      if (cordons) cordonedByPeople.add(uid);
      else {
        cordonedByPeople.delete(uid);
        uncordonedByPeople.add(uid);
      }
    },
    isCordonedByPeople: (uid) => cordonedByPeople.has(uid),
    report,
  };
}

interface Seen {
  readonly pools: Pools;
  readonly nodes: Nodes;
}

function poolNameOf(node: Stored<Node>, pools: Pools): string | undefined {
  const chosen = poolOf(node.metadata, pools.values());
  return chosen.ok ? chosen.pool : undefined;
}
