import { maskSecrets } from '@slipway/base/masking';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { truncateBytes } from '@slipway/base/text';
import type { Client } from '../client/client.ts';
import { isKubeError } from '../client/errors.ts';
import { formatApiVersion, keyOf, type KubeObject, type Resource, resourceId } from '../client/resource.ts';
import { timestamp } from './conditions.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

export interface EventInput {
  type: 'Normal' | 'Warning';
  /** One word in CamelCase, the same for all events of this type. */
  reason: string;
  message: string;
}

/** One Event object and how often it has occurred. */
export interface Series extends EventInput {
  name: string;
  count: number;
  first: number;
  last: number;
  /** Combines events with different messages. */
  combined: boolean;
}

/** Event history of one object. */
export interface ObjectEvents {
  readonly series: readonly Series[];
  /** Writes left as of `refilledAt`. */
  readonly tokens: number;
  readonly refilledAt: number;
}

export type EventAction = 'create' | 'update' | 'count' | 'drop';

const WINDOW_MS = 10 * 60_000;
const MAX_SIMILAR = 10;
const MAX_SERIES = 40;
/** A burst for the steps of one update, then one write every 30 s. Counting continues and is written with the next. */
const BURST = 25;
const REFILL_MS = 30_000;
/** The API allows 1024 bytes in a message, 128 in a reason. */
const MAX_MESSAGE_BYTES = 1024;
const MAX_REASON = 128;
const COMBINED_PREFIX = 'Several events like this one, the latest: ';

/** Decides how to record an event: create it, increase the count of an earlier one, only count it, or drop it. */
export function aggregate(
  state: ObjectEvents | undefined,
  happening: EventInput,
  now: number,
  newName: () => string,
): { state: ObjectEvents; action: EventAction; series: Series | undefined } {
  const kept = (state?.series ?? []).filter(({ last }) => now - last < WINDOW_MS);
  const tokens = refill(state, now);
  const similar = kept.filter(({ reason, type }) => reason === happening.reason && type === happening.type);
  const message = cut(happening.message);
  const same = similar.find((each) => each.combined || each.message === message);
  if (same !== undefined) {
    const next = again(same, happening, now);
    const series = kept.map((each) => (each === same ? next : each));
    return { state: { series, ...spend(tokens, now) }, action: tokens >= 1 ? 'update' : 'count', series: next };
  }
  if (tokens < 1) return { state: { series: kept, tokens, refilledAt: now }, action: 'drop', series: undefined };
  const combined = similar.length >= MAX_SIMILAR;
  const fresh: Series = {
    type: happening.type,
    reason: happening.reason,
    message: combined ? cut(COMBINED_PREFIX + message) : message,
    name: newName(),
    count: 1,
    first: now,
    last: now,
    combined,
  };
  const series = [...kept, fresh].slice(-MAX_SERIES);
  return { state: { series, ...spend(tokens, now) }, action: 'create', series: fresh };
}

const refill = (state: ObjectEvents | undefined, now: number): number =>
  state === undefined ? BURST : Math.min(BURST, state.tokens + (now - state.refilledAt) / REFILL_MS);

const spend = (tokens: number, now: number): Pick<ObjectEvents, 'tokens' | 'refilledAt'> => ({
  tokens: tokens >= 1 ? tokens - 1 : tokens,
  refilledAt: now,
});

const again = (series: Series, { message }: EventInput, now: number): Series => ({
  ...series,
  message: series.combined ? cut(COMBINED_PREFIX + message) : series.message,
  count: series.count + 1,
  last: now,
});

const cut = (text: string): string => truncateBytes(text, MAX_MESSAGE_BYTES);

interface CoreEvent extends KubeObject {
  metadata: KubeObject['metadata'] & { namespace: string };
  involvedObject: object;
  type: string;
  reason: string;
  message: string;
  count: number;
  firstTimestamp: string;
  lastTimestamp: string;
  source: { component: string };
  reportingComponent: string;
  reportingInstance: string;
}

/**
 * core/v1 with counts, not events.k8s.io/v1 with series: `kubectl get events` shows both, but `kubectl describe`
 * prints `x5 over 10m` only from the counts.
 */
const coreEvents: Resource<CoreEvent> = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true };

export interface Recorder {
  /** Never throws and never waits. The resource is a parameter because objects from a list lack their kind. */
  record(resource: Resource, object: KubeObject, happening: EventInput): void;
  /** Waits, within the bound, until everything recorded so far is written. */
  flush(boundMs?: number): Promise<void>;
}

export interface RecorderOptions {
  /** The reporting program: `slipway-controllers`. */
  component: string;
  /** The reporting process; the host name by default. */
  instance?: string | undefined;
  log: Log;
  metrics?: Metrics | undefined;
  now?: (() => number) | undefined;
}

const MAX_OBJECTS = 4096;
const MAX_PENDING = 1000;

/** Writes Events in the background. Its client is not fenced: an Event from a former leader does no harm. */
export function createRecorder(client: Client, options: RecorderOptions): Recorder {
  const { component, instance = hostname(), log, metrics, now = Date.now } = options;
  /** Least recently used first. */
  const objects = new Map<string, ObjectEvents>();
  /** By Event name: a count that grows before it is written is written once. */
  const pending = new Map<string, { event: CoreEvent; isNew: boolean }>();
  let writer: Promise<void> | undefined;

  function take(resource: Resource, object: KubeObject, happening: EventInput): void {
    const id = `${resourceId(resource)} ${keyOf(object)} ${object.metadata.uid ?? ''}`;
    const { state, action, series } = aggregate(objects.get(id), happening, now(), () => eventName(object));
    remember(id, state);
    if (series === undefined) count('dropped');
    else enqueue(buildEvent(resource, object, series), action);
  }

  function remember(id: string, state: ObjectEvents): void {
    objects.delete(id);
    objects.set(id, state);
    if (objects.size <= MAX_OBJECTS) return;
    const [oldest] = objects.keys();
    if (oldest !== undefined) objects.delete(oldest);
  }

  function enqueue(event: CoreEvent, action: EventAction): void {
    const { name } = event.metadata;
    const waiting = pending.get(name);
    if (waiting === undefined && action === 'count') return count('counted');
    if (waiting === undefined && pending.size >= MAX_PENDING) return count('dropped');
    pending.set(name, { event, isNew: waiting?.isNew ?? action === 'create' });
    writer ??= writeAll();
  }

  function buildEvent(resource: Resource, { apiVersion, metadata }: KubeObject, series: Series): CoreEvent {
    const { name, namespace, uid, resourceVersion } = metadata;
    return {
      metadata: { name: series.name, namespace: namespace ?? 'default' },
      involvedObject: {
        apiVersion: apiVersion ?? formatApiVersion(resource),
        kind: resource.kind,
        name,
        namespace,
        uid,
        resourceVersion,
      },
      type: series.type,
      reason: series.reason.slice(0, MAX_REASON),
      message: series.message,
      count: series.count,
      firstTimestamp: timestamp(new Date(series.first)),
      lastTimestamp: timestamp(new Date(series.last)),
      source: { component },
      reportingComponent: component,
      reportingInstance: instance,
    };
  }

  const count = (result: 'written' | 'counted' | 'dropped' | 'failed'): void => metrics?.events.inc({ result });

  async function writeAll(): Promise<void> {
    // Lets the reconcile that recorded the event continue first.
    await Promise.resolve();
    for (const [name, { event, isNew }] of pending) {
      pending.delete(name);
      try {
        await write(event, isNew);
        count('written');
      } catch (error) {
        count('failed');
        log.debug({ err: error, event: event.reason, object: event.involvedObject }, 'event was not written');
      }
    }
    writer = undefined;
  }

  async function write(event: CoreEvent, isNew: boolean): Promise<void> {
    if (!isNew) {
      const { message, count: times, lastTimestamp } = event;
      const body = { message, count: times, lastTimestamp };
      try {
        await client.patch(coreEvents, event.metadata, { type: 'merge', body }, {});
        return;
      } catch (error) {
        // The API server deletes events after an hour.
        if (!isKubeError(error, 'SLW_KUBE_NOT_FOUND')) throw error;
      }
    }
    await client.create(coreEvents, event);
  }

  return {
    record(resource, object, happening) {
      try {
        // The daemon and the controllers quote what they read elsewhere.
        take(resource, object, { ...happening, message: maskSecrets(happening.message) });
      } catch (error) {
        count('failed');
        log.error({ err: error, reason: happening.reason }, 'event could not be recorded; this is a bug');
      }
    },
    async flush(boundMs = 5000) {
      if (writer === undefined) return;
      let timer: NodeJS.Timeout | undefined;
      const bound = new Promise<void>((resolve) => (timer = setTimeout(resolve, boundMs)));
      await Promise.race([writer, bound]);
      clearTimeout(timer);
    },
  };
}

/**
 * The usual format: the object's name, a dot, a unique suffix. Some kinds allow names that are not DNS names. UUIDs take a
 * quarter of the time of random bytes, because Node makes them in batches.
 */
function eventName({ metadata }: KubeObject): string {
  const base = metadata.name
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
    .slice(0, 200);
  return `${base.replaceAll(/^[.-]+|[.-]+$/g, '')}.${randomUUID().replaceAll('-', '').slice(-16)}`;
}
