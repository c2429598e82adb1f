import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { jitterMs } from '@slipway/base/backoff';
import type { Client, WriteAttempt } from '../client/client.ts';
import { isKubeError, KubeError } from '../client/errors.ts';
import type { KubeObject, Name, Resource, Stored } from '../client/resource.ts';
import { type Clock, systemClock } from '@slipway/base/clock';
import type { Log } from './log.ts';

export interface Leadership {
  readonly held: boolean;
  /** Increases with every change of leader. */
  readonly term: number;
  /** Throws SLW_KUBE_NOT_LEADER unless the last renewal is so recent that no other process can hold the lease. */
  assertHeld(): void;
  onChange(listener: (held: boolean) => void): () => void;
}

export interface Election extends Leadership {
  start(): void;
  /** Ends leadership, then releases the lease, so that the next leader need not wait. */
  stop(): Promise<void>;
}

export interface ElectionOptions {
  client: Client;
  lease: Name & { namespace: string };
  log: Log;
  identity?: string | undefined;
  /** How long others wait for a silent leader. Whole seconds, as in the API. */
  leaseMs?: number | undefined;
  /** How old the last renewal may be for a write; the rest of leaseMs is the safety margin. */
  renewDeadlineMs?: number | undefined;
  retryMs?: number | undefined;
  clock?: Clock | undefined;
}

export interface Lease extends KubeObject {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}

const leases: Resource<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

/** A version of the lease, and since when it has been unchanged on this process's monotonic clock. */
export interface ObservedLease {
  version: string;
  since: number;
  /** This process believes that it holds the lease. */
  held: boolean;
}

export type LeaseStep = { type: 'acquire' } | { type: 'renew' } | { type: 'wait'; ms: number } | { type: 'lost' };

/**
 * Decides a candidate's next step. Times in the lease are from other machines' clocks and are ignored: a lease has
 * expired if it has not changed for its whole duration while this process watched.
 */
export function nextLeaseStep(
  lease: Stored<Lease> | undefined,
  identity: string,
  observed: ObservedLease | undefined,
  now: number,
): LeaseStep {
  if (lease === undefined) return { type: 'acquire' };
  const holder = lease.spec?.holderIdentity ?? '';
  if (holder === identity) return { type: 'renew' };
  if (observed?.held === true) return { type: 'lost' };
  const ms = holder === '' ? 0 : timeLeft(lease, observed, now);
  return ms <= 0 ? { type: 'acquire' } : { type: 'wait', ms };
}

function timeLeft(lease: Stored<Lease>, observed: ObservedLease | undefined, now: number): number {
  const unchangedMs = observed?.version === lease.metadata.resourceVersion ? now - observed.since : 0;
  return (lease.spec?.leaseDurationSeconds ?? 1) * 1000 - unchangedMs;
}

/** One candidate for one lease. Give its client a separate transport, or renewals wait behind other requests. */
export function createElection(options: ElectionOptions): Election {
  const { client, lease: name, log, clock = systemClock } = options;
  const { leaseMs = 15_000, renewDeadlineMs = 10_000, retryMs = 2000 } = options;
  const identity = options.identity ?? `${hostname()}_${randomUUID()}`;
  checkTimes(leaseMs, renewDeadlineMs, retryMs);
  const stopped = new AbortController();
  const listeners = new Set<(held: boolean) => void>();
  let lease: Stored<Lease> | undefined;
  let observed: ObservedLease | undefined;
  /** When the last successful renewal was SENT: its response may have taken any time. */
  let renewed: { at: number; wall: number } | undefined;
  let term = 0;
  let announced = false;
  let cancelDeadline: (() => void) | undefined;
  let loop: Promise<void> | undefined;
  let problem: string | undefined;

  // The monotonic clock runs while the process is frozen, but not while the machine sleeps; the wall clock covers that.
  const age = (): number =>
    renewed === undefined ? Infinity : Math.max(clock.now() - renewed.at, clock.wallNow() - renewed.wall);
  const holds = (): boolean => announced && age() < renewDeadlineMs;

  function announce(held: boolean): void {
    cancelDeadline?.();
    if (held) cancelDeadline = clock.setTimer(renewDeadlineMs - age(), lose);
    if (held === announced) return;
    announced = held;
    log.info({ lease: `${name.namespace}/${name.name}`, identity, term }, held ? 'became leader' : 'lost leadership');
    for (const listener of listeners) listener(held);
  }

  function lose(): void {
    renewed = undefined;
    if (observed !== undefined) observed.held = false;
    announce(false);
  }

  async function read(signal: AbortSignal): Promise<void> {
    lease = await client.find(leases, name, { signal });
    const version = lease?.metadata.resourceVersion;
    if (version === undefined) observed = undefined;
    else if (observed?.version !== version) observed = { version, since: clock.now(), held: observed?.held ?? false };
  }

  async function attempt(): Promise<number> {
    const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(Math.max(retryMs, renewDeadlineMs / 2))]);
    if (renewed === undefined || lease === undefined) await read(signal);
    const step = nextLeaseStep(lease, identity, observed, clock.now());
    if (step.type === 'wait') return Math.min(step.ms, jittered(retryMs));
    if (step.type === 'lost') lose();
    else await take(signal);
    return jittered(retryMs);
  }

  /** Writes this process's identity and a new time, on exactly the version read before. */
  async function take(signal: AbortSignal): Promise<void> {
    const started = { at: clock.now(), wall: clock.wallNow() };
    const seen = lease;
    lease = undefined; // Unknown until the response arrives: the write may or may not succeed.
    const spec = buildLeaseSpec(seen, identity, leaseMs);
    const precondition = { resourceVersion: seen?.metadata.resourceVersion };
    lease =
      seen === undefined
        ? await client.create(leases, { metadata: name, spec }, { signal })
        : await client.patch(leases, name, { type: 'merge', body: { spec } }, precondition, { signal });
    renewed = started;
    observed = { version: lease.metadata.resourceVersion, since: clock.now(), held: true };
    term = spec.leaseTransitions;
    if (age() < renewDeadlineMs && !stopped.signal.aborted) announce(true);
    else lose();
  }

  async function campaign(): Promise<void> {
    while (!stopped.signal.aborted) {
      let waitMs = jittered(retryMs);
      try {
        waitMs = await attempt();
        problem = undefined;
      } catch (error) {
        lease = undefined;
        if (isKubeError(error, 'SLW_KUBE_CONFLICT', 'SLW_KUBE_ALREADY_EXISTS')) waitMs /= 4;
        else report(error);
      }
      await clock.sleep(waitMs, stopped.signal).catch(() => {});
    }
  }

  /** Logs each type of failure once, not every two seconds. */
  function report(error: unknown): void {
    const kind = error instanceof KubeError ? error.code : 'other';
    if (stopped.signal.aborted || kind === problem) return;
    problem = kind;
    log.warn({ err: error, lease: `${name.namespace}/${name.name}` }, 'cannot read or renew the lease; retrying');
  }

  async function release(): Promise<void> {
    const signal = AbortSignal.timeout(5000);
    try {
      if (lease === undefined) await read(signal);
      if (lease === undefined || lease.spec?.holderIdentity !== identity) return;
      const { resourceVersion } = lease.metadata;
      const body = { spec: { holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(new Date()) } };
      await client.patch(leases, name, { type: 'merge', body }, { resourceVersion }, { signal });
    } catch (error) {
      // The next leader waits for the lease to expire instead.
      log.debug({ err: error }, 'lease was not released');
    }
  }

  return {
    get held() {
      return holds();
    },
    get term() {
      return term;
    },
    assertHeld() {
      if (holds()) return;
      const found =
        renewed === undefined ? 'is not held by this process' : `was last renewed ${Math.round(age())} ms ago`;
      throw new KubeError(
        'SLW_KUBE_NOT_LEADER',
        `lease ${name.namespace}/${name.name} ${found}: only the holder may write, within ${renewDeadlineMs} ms of a renewal. Another replica takes over`,
      );
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start() {
      loop ??= campaign();
    },
    async stop() {
      stopped.abort();
      lose();
      if (loop === undefined) return;
      await loop;
      await release();
    },
  };
}

/**
 * The same client for the leader only. It checks the age of the lease before every write and again right before
 * sending. A write that changes an object must carry its version (for a delete, its UID or version), so that a write
 * delayed after the last check cannot overwrite what the next leader has changed.
 */
export function fence(client: Client, leadership: Pick<Leadership, 'assertHeld'>): Client {
  return client.guarded((attempt) => {
    leadership.assertHeld();
    if (namesItsTarget(attempt)) return;
    const wanted = attempt.verb === 'patch' || attempt.verb === 'apply' ? 'resourceVersion' : 'uid or resourceVersion';
    throw new KubeError(
      'SLW_KUBE_NO_PRECONDITION',
      `${attempt.verb} ${attempt.resource.kind} ${attempt.name.name}: expected a precondition with ${wanted}, found none. Pass that of the object on which the decision is based`,
    );
  });
}

function namesItsTarget({ verb, precondition }: WriteAttempt): boolean {
  if (verb === 'create' || precondition.resourceVersion !== undefined) return true;
  return (verb === 'delete' || verb === 'evict') && precondition.uid !== undefined;
}

function buildLeaseSpec(seen: Stored<Lease> | undefined, identity: string, leaseMs: number) {
  const now = microTime(new Date());
  const { holderIdentity, acquireTime, leaseTransitions = 0 } = seen?.spec ?? {};
  const ours = holderIdentity === identity;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(leaseMs / 1000),
    acquireTime: ours ? (acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: ours || seen === undefined ? leaseTransitions : leaseTransitions + 1,
  };
}

function checkTimes(leaseMs: number, renewDeadlineMs: number, retryMs: number): void {
  if (retryMs > 0 && retryMs < renewDeadlineMs && renewDeadlineMs < leaseMs) return;
  throw new RangeError(
    `leader election needs 0 < retry < renew deadline < lease duration, found ${retryMs}, ${renewDeadlineMs}, ${leaseMs} ms`,
  );
}

const jittered = (ms: number): number => jitterMs(ms, [0.8, 1.2]);

/** The API's MicroTime: exactly six digits. */
const microTime = (date: Date): string => date.toISOString().replace('Z', '000Z');
