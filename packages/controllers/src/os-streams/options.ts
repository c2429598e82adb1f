import { backoffMs } from '@slipway/base/backoff';
import type { Gates, Metrics } from '@slipway/kube';
import type { SourceOptions } from '../sources.ts';
import type { MakeRegistry } from './registry.ts';

export interface OsStreamsOptions extends SourceOptions {
  readonly controllerVersion: string;
  /** Creates registry clients; see `registryWith`. */
  readonly registry: MakeRegistry;
  /** The Secret with the cluster's pull secret, in its key .dockerconfigjson. */
  readonly pullSecret?: { readonly namespace: string; readonly name: string } | undefined;
  /** The same gates as the manager's: whether the cluster may be upgraded depends on more than streams. */
  readonly gates: Gates;
  readonly metrics?: Pick<Metrics, 'registry'> | undefined;
  readonly retry?: RetryTimes | undefined;
  /** How often images that are specified by tag are compared with their registry. */
  readonly tagIntervalMs?: number | undefined;
}

export const DEFAULT_TAG_INTERVAL_MS = 10 * 60_000;

export const DEFAULT_PULL_SECRET = { namespace: 'openshift-config', name: 'pull-secret' } as const;

// When to retry a failure. Only a delay, so a restart may lose it.

export interface RetryTimes {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** Nothing reports that a registry works again. One request a minute costs it nothing, and an administrator may be waiting. */
const DEFAULT_RETRY_TIMES: RetryTimes = { firstMs: 5000, mostMs: 60_000 };

export interface RetryBackoff {
  /** Milliseconds until the next try; 0 for now. A `what` that has not failed may be tried immediately. */
  waitFor(what: string, now: number): number;
  /** Milliseconds until the next try: doubles each time. */
  failed(what: string, now: number): number;
  /** Consecutive failures. */
  failures(what: string): number;
  succeeded(): void;
}

export function createRetryBackoff({ firstMs, mostMs }: RetryTimes = DEFAULT_RETRY_TIMES): RetryBackoff {
  let last: { readonly what: string; readonly count: number; readonly notBefore: number } | undefined;
  const failures = (what: string): number => (last?.what === what ? last.count : 0);
  return {
    waitFor: (what, now) => (last?.what === what ? Math.max(0, last.notBefore - now) : 0),
    failed(what, now) {
      const count = failures(what) + 1;
      const wait = backoffMs({ firstMs, maxMs: mostMs }, count);
      last = { what, count, notBefore: now + wait };
      return wait;
    },
    failures,
    succeeded: () => (last = undefined),
  };
}
