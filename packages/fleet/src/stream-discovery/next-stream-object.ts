// The desired OSImageStream `cluster`: created, updated from the sources, or left at its last good state.
import { truncate } from '@slipway/base/text';
import {
  type OSImageStream,
  ownDefaultStreamAnnotation,
  releasePayloadImageAnnotation,
  streamLifecycleAnnotation,
  streamSourcesAnnotation,
} from '@slipway/api';
import { findStream, type Stream } from '../os-streams/available.ts';
import { selectDefaultStream } from '../os-streams/default-stream.ts';
import { encodeLifecycle } from '../os-streams/lifecycle.ts';
import { type StreamCondition } from '../os-streams/deprecation.ts';
import type { CodedProblem } from '../problems.ts';
import type { Discovery } from './discover-streams.ts';

type Status = NonNullable<OSImageStream['status']>;

export interface StreamObjectInput {
  /** The current object; undefined: it does not exist. */
  readonly current: Pick<OSImageStream, 'metadata' | 'spec' | 'status'> | undefined;
  /** Null: the sources have not changed, so no registry was queried. */
  readonly discovery: Discovery | null;
  /** Covers all sources of the discovery. */
  readonly sourcesDigest: string;
  /** Null: there is none. */
  readonly releaseImage: string | null;
}

export interface DesiredStreamObject {
  readonly spec: { readonly defaultStream: string };
  readonly status: Status;
  /** Null: delete it. */
  readonly annotations: Readonly<Record<string, string | null>>;
}

export type NextStreamObject =
  /** Writes only what differs, if anything. */
  | { readonly type: 'write'; readonly wanted: DesiredStreamObject; readonly problems: readonly CodedProblem[] }
  /** The last good object stays, or none exists yet. */
  | { readonly type: 'leave'; readonly problems: readonly CodedProblem[] };

export function nextStreamObject(input: StreamObjectInput): NextStreamObject {
  const { current, discovery } = input;
  if (discovery === null) return withStatus(current, []);
  const failures = discovery.notes.filter(({ code }) => code === 'SLW_STREAM_SOURCE_FAILED');
  // The existing object was complete; what works now may be less.
  if (failures.length > 0 && current?.status !== undefined) return withStatus(current, failures);
  return fromSources(input, discovery, failures);
}

/** While the sources are unchanged or failing, only the default can change: the user sets it. */
function withStatus(current: StreamObjectInput['current'], problems: readonly CodedProblem[]): NextStreamObject {
  if (current?.status === undefined) return { type: 'leave', problems };
  const { availableStreams, defaultStream } = current.status;
  const asked = current.spec.defaultStream;
  const own = current.metadata.annotations?.[ownDefaultStreamAnnotation];
  const chosen = findStream(availableStreams, asked) ?? findStream(availableStreams, own ?? defaultStream);
  return {
    type: 'write',
    wanted: {
      spec: current.spec,
      status: { availableStreams, defaultStream: chosen?.name ?? defaultStream },
      annotations: {},
    },
    problems: [...problems, ...dangling(current, availableStreams)],
  };
}

function fromSources(
  { current, sourcesDigest, releaseImage }: StreamObjectInput,
  { found, version }: Discovery,
  failures: readonly CodedProblem[],
): NextStreamObject {
  const available = found.map(({ stream }) => stream);
  const override = readOverride(current);
  const chosen = selectDefaultStream({ version, available, override });
  if (!chosen.ok) return { type: 'leave', problems: [...failures, chosen.problem] };
  const isOverride = chosen.because === 'override';
  const own = isOverride ? (current?.metadata.annotations?.[ownDefaultStreamAnnotation] ?? null) : chosen.name;
  const lifecycle = new Map(
    found.flatMap(({ stream, lifecycle }) => (lifecycle === null ? [] : [[stream.name, lifecycle] as const])),
  );
  return {
    type: 'write',
    wanted: {
      spec: { defaultStream: override ?? chosen.name },
      status: { availableStreams: [...available], defaultStream: chosen.name },
      annotations: {
        [ownDefaultStreamAnnotation]: own,
        [streamLifecycleAnnotation]: encodeLifecycle(lifecycle),
        [releasePayloadImageAnnotation]: releaseImage,
        // Only a complete result is recorded: failed sources are retried.
        [streamSourcesAnnotation]: failures.length > 0 ? null : sourcesDigest,
      },
    },
    problems: [...failures, ...(override === null || isOverride ? [] : dangling(current, available))],
  };
}

/** The default that another client set; null: we set it. */
function readOverride(current: StreamObjectInput['current']): string | null {
  const asked = current?.spec.defaultStream;
  if (asked === undefined || asked === '') return null;
  return asked === current?.metadata.annotations?.[ownDefaultStreamAnnotation] ? null : asked;
}

/** A user's default that no longer exists: it stays in the spec, and applies again once the stream is back. */
function dangling(current: StreamObjectInput['current'], available: readonly Stream[]): CodedProblem[] {
  const override = readOverride(current);
  if (override === null || findStream(available, override) !== undefined) return [];
  const names = available.map(({ name }) => name).join(', ');
  const message = `OSImageStream cluster, spec.defaultStream: expected one of ${names}, found ${override}, which does not exist. New pools use the platform default instead. Set one of the listed streams`;
  return [{ code: 'SLW_STREAM_DEFAULT_GONE', message }];
}

/** Whether it was built from these sources, so that no registry must be queried. */
export const isMadeFrom = (current: StreamObjectInput['current'], sourcesDigest: string): boolean =>
  current?.status !== undefined && current.metadata.annotations?.[streamSourcesAnnotation] === sourcesDigest;

// Merges two findings into one condition.

const SKEW = 'BootImageSkew';
const reasonsOfOurs: ReadonlySet<string> = new Set(['DeprecatedOSStreamInUse', SKEW]);
const BETWEEN = '::';
const MAX_MESSAGE_LENGTH = 4000;

/** `skew`: why boot images are too old for an upgrade; null if they are not. */
export function joinUpgradeable(streams: StreamCondition, skew: string | null): StreamCondition {
  if (skew === null) return streams;
  if (streams.status === 'True') return { status: 'False', reason: SKEW, message: cut(skew) };
  return {
    status: 'False',
    reason: `${streams.reason}${BETWEEN}${SKEW}`,
    // Each gets half of the space: a very long message must not hide the other.
    message: `${cut(streams.message, MAX_MESSAGE_LENGTH / 2)}\n${cut(skew, MAX_MESSAGE_LENGTH / 2 - 1)}`,
  };
}

/** Whether one of our findings blocks the upgrade. */
export const isReportedByUs = (reason: string | undefined): boolean =>
  reason?.split(BETWEEN).some((each) => reasonsOfOurs.has(each)) === true;

const cut = (text: string, limit = MAX_MESSAGE_LENGTH): string => truncate(text, limit);
