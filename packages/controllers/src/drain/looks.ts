// When a drain was last looked at, and when it is again. What is true of a drain is on its Node: this is only the pace, and a
// new process, which knows nothing of it, looks at once.
import type { Node } from '@slipway/api';
import type { DrainStep } from '@slipway/fleet/drain';
import type { Stored } from '@slipway/kube';
import type { DrainMetrics } from './drain-metrics.ts';
import { HOUR, lookAfter, retryAfter } from './pace.ts';
import { type Refusal, retryAt, type SortedPods } from './sort-pods.ts';

export interface Look {
  readonly at: number;
  readonly nextAt: number;
  readonly refused: readonly Refusal[];
  /** When pods were last told to leave. */
  readonly evictedAt: number;
  /** The Node says what came of it. */
  isTold: boolean;
}

export interface Looks {
  /** Undefined: the node was not looked at for this drain. */
  last(node: Stored<Node>, drain: Drain): Look | undefined;
  note(node: Stored<Node>, drain: Drain, look: Look): void;
  forget(this: void, name: string): void;
  forgetAll(this: void): void;
}

export type Drain = Extract<DrainStep, { type: 'empty' }>;

export function createLooks(measured: DrainMetrics | undefined): Looks {
  /** By the name of the node: names come back, so each has what tells one drain from another. */
  const looks = new Map<string, { drain: string; look: Look }>();
  const idOf = ({ metadata }: Stored<Node>, { wish }: Drain): string => `${metadata.uid} ${wish.text}`;
  return {
    last(node, drain) {
      const known = looks.get(node.metadata.name);
      return known?.drain === idOf(node, drain) ? known.look : undefined;
    },
    note(node, drain, look) {
      const { name } = node.metadata;
      looks.set(name, { drain: idOf(node, drain), look });
      measured?.overdue(name, look.at - drain.since > HOUR);
    },
    forget(name) {
      if (looks.delete(name)) measured?.overdue(name, false);
    },
    forgetAll() {
      looks.clear();
      measured?.reset();
    },
  };
}

export interface Seen {
  /** At least one pod. */
  readonly sorted: SortedPods;
  /** All that may not go, of now and of before. */
  readonly refused: readonly Refusal[];
  readonly since: number;
  readonly now: number;
  readonly last: Look | undefined;
}

export function lookOf({ sorted, refused, since, now, last }: Seen): Look {
  const { evict, leaving, stuck, held } = sorted;
  const hasEvicted = evict.length > refused.length - held.length;
  const evictedAt = hasEvicted || last === undefined ? now : last.evictedAt;
  const nextAt = Math.min(
    ...(hasEvicted || leaving.length > 0 ? [now + lookAfter(now - evictedAt)] : []),
    ...(stuck.length > 0 ? [now + retryAfter(now - since)] : []),
    ...refused.map((refusal) => retryAt(refusal, since)),
  );
  return { at: now, nextAt, refused, evictedAt, isTold: false };
}
