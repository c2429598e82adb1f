// What the rollout controller promises, checked on each target that it assigns to a machine.
//
// It decides on what its views showed at the start of a reconcile, and a view may lag. So at the moment of each write
// that makes a healthy machine unavailable, these count against maxUnavailable:
// - machines that are unavailable because of us (assigned and not done, or cordoned by us), whatever the view showed: a
//   controller knows its own writes, or has to wait until it sees them;
// - machines that are unavailable for another reason (not ready, cordoned by a user, degraded) in the view too.
// Only machines count that are in the pool, and were so in the view. maxUnavailable itself, the pool size for a
// percentage, `paused`, the stop switch and failures are those of the view.
import {
  type MachineConfigPool,
  machineConfigPools,
  machineConfigurations,
  type Node,
  nodeAnnotations,
  nodes,
  stopRolloutsAnnotation,
} from '@slipway/api';
import { selectPool } from '@slipway/fleet';
import type { Stored } from '@slipway/kube';
import type { Run } from './controller-process.ts';
import {
  computeMaxUnavailable,
  annotationsOf,
  haltedTarget,
  hasFailedAt,
  isControlPlane,
  isOutThroughUs,
  isUnavailable,
  stopsAtFailure,
} from './fleet-rules.ts';
import type { MemoryApi } from './memory-api.ts';

/** An assigned target: the machine, the reconcile, and the pool as that reconcile saw it. */
interface AssignedTarget {
  readonly node: Stored<Node>;
  readonly old: Stored<Node>;
  readonly target: string;
  readonly pool: Stored<MachineConfigPool>;
  readonly run: Run;
}

/** Each promise that a write of the rollout controller to a Node breaks, human-readable. */
export function checkAssignment(api: MemoryApi, run: Run, node: Stored<Node>, old: Stored<Node>): string[] {
  const { name } = node.metadata;
  const target = annotationsOf(node)[nodeAnnotations.desiredConfig] ?? '';
  if (target === annotationsOf(old)[nodeAnnotations.desiredConfig])
    return [`${name}: written to, with the same target`];
  const pool = run.saw(machineConfigPools).get(run.key);
  if (pool === undefined) return [`${name}: given ${target} for the pool ${run.key}, which was not seen`];
  const assignment = { node, old, target, pool, run };
  const takesOut = !isUnavailable(old) && isUnavailable(node);
  return [...stopped(assignment), ...(takesOut ? [...failed(assignment), ...tooMany(api, assignment)] : [])];
}

function stopped({ node, target, pool, run }: AssignedTarget): string[] {
  const switches = run.saw(machineConfigurations).get('cluster')?.metadata.annotations ?? {};
  const reasons = [
    ...(pool.spec.paused === true ? [`${run.key} was paused`] : []),
    ...(stopRolloutsAnnotation in switches ? ['rollouts were stopped'] : []),
    ...(haltedTarget(pool) === target ? ['that was halted'] : []),
  ];
  return reasons.map((reason) => `${node.metadata.name}: given ${target} while ${reason}`);
}

function failed({ node, target, pool, run }: AssignedTarget): string[] {
  if (!stopsAtFailure(pool, target)) return [];
  const failing = [...run.saw(nodes).values()].filter((other) => hasFailedAt(other, target));
  return failing.map(
    ({ metadata }) => `${node.metadata.name}: given ${target} though ${metadata.name} had failed to apply it`,
  );
}

function tooMany(api: MemoryApi, { node, pool, run }: AssignedTarget): string[] {
  const pools = run.saw(machineConfigPools);
  const key = pool.metadata.name;
  const findPoolName = (member: Stored<Node>): string => {
    const chosen = selectPool(member.metadata, pools.values());
    return chosen.ok ? chosen.pool : '';
  };
  // Masters and arbiters share a limit.
  const isPeer = (member: Stored<Node>): boolean => {
    const other = findPoolName(member);
    return other === key || (isControlPlane(key) && isControlPlane(other));
  };
  const seen = [...run.saw(nodes).values()];
  const out = seen.filter(isPeer).filter((before) => {
    const now = api.find(nodes, before.metadata);
    const isAnother = now?.metadata.uid !== before.metadata.uid || now.metadata.name === node.metadata.name;
    if (isAnother || !isPeer(now)) return false;
    return isUnavailable(now) && (isOutThroughUs(now) || isUnavailable(before));
  });
  const allowed = computeMaxUnavailable(pool, seen.filter((member) => findPoolName(member) === key).length);
  if (out.length + 1 <= allowed) return [];
  const others = out.map(({ metadata }) => metadata.name).join(', ');
  return [
    `${node.metadata.name}: made unavailable in ${key}, where ${allowed} may be and ${out.length} were: ${others}`,
  ];
}
