// Watches the nodes of a live fleet in the order of their versions, and says when a promise was broken.
//
// What we do ourselves is known at once: a machine that was told to change, or that we cordoned, counts from that version on.
// What comes from outside (a machine that is not ready, cordoned by a person, moved to another pool; another maxUnavailable;
// paused) counts when it has been so for longer than a watch may take.
import { type MachineConfigPool, type Node, nodeAnnotations } from '@slipway/api';
import {
  computeMaxUnavailable,
  annotationsOf,
  isOutThroughUs,
  isUnavailable,
} from '@slipway/controllers/testing/simulation';
import { selectPool } from '@slipway/fleet';
import type { Stored } from '@slipway/kube';
import type { LiveFleet } from './live-fleet.ts';

export interface LiveReferee {
  readonly violations: readonly string[];
  readonly given: number;
}

const LAG_MS = 3000;
const { desiredConfig } = nodeAnnotations;

/** A value and since when it is so. */
interface Lasting<T> {
  readonly value: T;
  readonly since: number;
}

export function watchFleet({ nodes, pools }: Pick<LiveFleet, 'nodes' | 'pools'>): LiveReferee {
  const violations: string[] = [];
  /** By UID. */
  const outs = new Map<string, Lasting<boolean>>();
  const homes = new Map<string, Lasting<string>>();
  /** By name: how many may be out of each pool, and whether it is paused, the last ones first. */
  const limits = new Map<string, Lasting<Pick<MachineConfigPool, 'metadata' | 'spec'>>[]>();
  let given = 0;

  const isSettled = (lasting: Lasting<unknown> | undefined): boolean =>
    lasting !== undefined && performance.now() - lasting.since > LAG_MS;

  function note(node: Stored<Node>): void {
    const { uid } = node.metadata;
    const chosen = selectPool(node.metadata, pools.store.values());
    const home = chosen.ok ? chosen.pool : '';
    const since = performance.now();
    if (outs.get(uid)?.value !== isUnavailable(node)) outs.set(uid, { value: isUnavailable(node), since });
    if (homes.get(uid)?.value !== home) homes.set(uid, { value: home, since });
  }

  function check(node: Stored<Node>, old: Stored<Node>): void {
    const target = annotationsOf(node)[desiredConfig];
    if (target === annotationsOf(old)[desiredConfig]) return;
    given += 1;
    const { name, uid } = node.metadata;
    const pool = homes.get(uid)?.value ?? '';
    const recent = selectRecent(limits.get(pool) ?? []);
    if (recent.length > 0 && recent.every(({ spec }) => spec.paused === true)) {
      violations.push(`${name}: given ${target} while ${pool} was paused`);
    }
    if (isUnavailable(old) || !isUnavailable(node)) return;
    const members = [...nodes.store.values()].filter(({ metadata }) => homes.get(metadata.uid)?.value === pool);
    const out = members.filter(
      (other) =>
        other.metadata.uid !== uid &&
        isSettled(homes.get(other.metadata.uid)) &&
        isUnavailable(other) &&
        (isOutThroughUs(other) || isSettled(outs.get(other.metadata.uid))),
    );
    // Nodes that have just come or gone change what a percentage is of.
    const allowed = Math.max(...recent.map((limit) => computeMaxUnavailable(limit, members.length + 1)));
    if (out.length + 1 <= allowed) return;
    const others = out.map(({ metadata }) => metadata.name).join(', ');
    violations.push(
      `${name}: taken out of service in ${pool}, where ${allowed} may be and ${out.length} were: ${others}`,
    );
  }

  pools.onChange((change) => {
    if (change.type === 'deleted') return;
    const { metadata, spec } = change.object;
    const known = limits.get(metadata.name) ?? [];
    limits.set(metadata.name, [{ value: { metadata, spec }, since: performance.now() }, ...known]);
  });
  nodes.onChange((change) => {
    if (change.type === 'deleted') return;
    note(change.object);
    if (change.type === 'updated') check(change.object, change.old);
  });

  return {
    violations,
    get given() {
      return given;
    },
  };
}

/** The one in force, and those that were within the time that a watch may take. */
function selectRecent<T>(lasting: readonly Lasting<T>[]): T[] {
  const over = lasting.findIndex(({ since }) => performance.now() - since > LAG_MS);
  return lasting.slice(0, over === -1 ? lasting.length : over + 1).map(({ value }) => value);
}
