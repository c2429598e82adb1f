import type { KubeObject, Resource, Stored } from './resource.ts';

export interface Lease extends KubeObject {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}

export const leases: Resource<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

/** A version of the lease, and since when we have seen it unchanged, on our own monotonic clock. */
export interface Observed {
  version: string;
  since: number;
  /** We believe that the lease is ours. */
  held: boolean;
}

export type LeaseStep = { type: 'acquire' } | { type: 'renew' } | { type: 'wait'; ms: number } | { type: 'lost' };

/**
 * What a candidate does next. Times in the lease are of other machines' clocks and are not looked at: a lease has
 * expired when it has not changed for its whole duration while we watched.
 */
export function nextLeaseStep(
  lease: Stored<Lease> | undefined,
  identity: string,
  observed: Observed | undefined,
  now: number,
): LeaseStep {
  if (lease === undefined) return { type: 'acquire' };
  const holder = lease.spec?.holderIdentity ?? '';
  if (holder === identity) return { type: 'renew' };
  if (observed?.held === true) return { type: 'lost' };
  const ms = holder === '' ? 0 : timeLeft(lease, observed, now);
  return ms <= 0 ? { type: 'acquire' } : { type: 'wait', ms };
}

function timeLeft(lease: Stored<Lease>, observed: Observed | undefined, now: number): number {
  const unchangedMs = observed?.version === lease.metadata.resourceVersion ? now - observed.since : 0;
  return (lease.spec?.leaseDurationSeconds ?? 1) * 1000 - unchangedMs;
}
