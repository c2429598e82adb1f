// Watches every change of a simulated cluster and reports broken promises.
import { machineConfigPools, type Node, nodes, type Pod, pods } from '@slipway/api';
import { type KubeObject, resourceId, type Stored, type WriteAttempt } from '@slipway/kube';
import type { Run } from './controller-process.ts';
import { createDrainPromises } from './drain-promises.ts';
import { failureReason, isCordoned } from './fleet-rules.ts';
import type { MemoryApi } from './memory-api.ts';
import { checkAssignment } from './rollout-promises.ts';

export interface Referee {
  /** Human-readable; empty: every promise was kept. */
  readonly violations: readonly string[];
  readonly changes: number;
  /** Executes a write, and knows its writer. */
  by<T>(run: Run, write: WriteAttempt, carryOut: () => T): T;
  /** A user cordoned or uncordoned this Node. */
  personCordons(uid: string, isCordoned: boolean): void;
  isCordonedByPeople(uid: string): boolean;
  report(what: string): void;
}

interface Writer {
  readonly run: Run;
  readonly write: WriteAttempt;
  changed: boolean;
}

/** The first ones show what went wrong. */
const MAX_VIOLATIONS = 20;

export function createReferee(api: MemoryApi, now: () => number): Referee {
  const violations: string[] = [];
  const cordonedByPeople = new Set<string>();
  const drain = createDrainPromises(api, report);
  let writer: Writer | null = null;
  let changes = 0;

  function report(what: string): void {
    if (violations.length < MAX_VIOLATIONS) violations.push(`${new Date(now()).toISOString()} ${what}`);
  }

  function onNode(node: Stored<Node>, old: Stored<Node> | undefined): void {
    const { name, uid } = node.metadata;
    if (cordonedByPeople.has(uid) && !isCordoned(node))
      report(`${name}: a user had cordoned it, and it was uncordoned`);
    if (old?.metadata.uid !== uid) return;
    if (writer === null) drain.onDaemon(node, old);
    else if (writer.run.controller === 'drain') drain.onWrite(node, old);
    else for (const broken of checkAssignment(api, writer.run, node, old)) report(broken);
  }

  function onPool(pool: Stored<KubeObject>): void {
    const why = failureReason(pool);
    if (why.includes('SLW_DAEMON_DRIFT')) report(`${pool.metadata.name}: stopped by drift: ${why}`);
  }

  api.onChange(({ resource, type, object, old }) => {
    changes += 1;
    if (writer !== null) writer.changed = true;
    if (resourceId(resource) === resourceId(nodes) && type !== 'DELETED') onNode(object, old);
    if (resourceId(resource) === resourceId(machineConfigPools)) onPool(object);
    if (resourceId(resource) === resourceId(pods) && writer?.write.verb === 'evict') {
      const pod: Stored<Pod> = object;
      drain.onEviction(pod, writer.run);
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
        const what = `${write.resource.kind} ${write.name.name}`;
        if (!own.changed && write.verb === 'patch') report(`${run.controller}: a write to ${what} changed nothing`);
        return result;
      } finally {
        writer = null;
      }
    },
    personCordons(uid, cordons) {
      if (cordons) cordonedByPeople.add(uid);
      else cordonedByPeople.delete(uid);
      if (!cordons) drain.wasUncordoned(uid);
    },
    isCordonedByPeople: (uid) => cordonedByPeople.has(uid),
    report,
  };
}
