// The desired OSImageStream `cluster`: created, updated from the sources, or left at its last good state.
import { decode, oneOf, readableEntries } from '@slipway/base/codec';
import { isEqual } from '@slipway/base/equal';
import {
  isSameStream,
  type OSImageStream,
  ownDefaultStreamAnnotation,
  releasePayloadImageAnnotation,
  streamLifecycleAnnotation,
  streamMarksAnnotation,
  streamOriginsAnnotation,
  streamSourcesAnnotation,
} from '@slipway/api';
import { findStream, type Stream } from '../os-streams/available.ts';
import { selectDefaultStream } from '../os-streams/default-stream.ts';
import { decodeLifecycle, encodeLifecycle, readStreamMarks, type StreamMarks } from '../os-streams/lifecycle.ts';
import type { CodedProblem } from '../problems.ts';
import {
  type DiscoveredStream,
  type Discovery,
  MAX_STREAMS,
  type SourceName,
  sourcePrecedence,
  type StreamNote,
} from './discover-streams.ts';

/** A hundred names of streams and sources. */
const MAX_ORIGINS_LENGTH = 64 * 1024;

type Status = NonNullable<OSImageStream['status']>;

export interface StreamObjectInput {
  /** The current object; undefined: it does not exist. */
  readonly current: Pick<OSImageStream, 'metadata' | 'spec' | 'status'> | undefined;
  /** Null: the sources have not changed, so no registry was queried. */
  readonly discovery: Discovery | null;
  /** Covers all sources of the discovery, and the marks of users. */
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
  if (discovery === null) return withStatus(current);
  return fromSources(input, { ...discovery, found: applyMarks(current, keepLastStreams(current, discovery)) });
}

/** While the sources are unchanged, only the default can change: the user sets it. */
function withStatus(current: StreamObjectInput['current']): NextStreamObject {
  if (current?.status === undefined) return { type: 'leave', problems: [] };
  const { availableStreams, defaultStream } = current.status;
  const asked = current.spec.defaultStream;
  const chosen = findStream(availableStreams, asked) ?? findOwnDefault(current, availableStreams);
  return {
    type: 'write',
    wanted: {
      spec: current.spec,
      status: { availableStreams, defaultStream: chosen?.name ?? defaultStream },
      annotations: {},
    },
    problems: [...readMarks(current).problems, ...dangling(current, availableStreams)],
  };
}

function fromSources(
  { current, sourcesDigest, releaseImage }: StreamObjectInput,
  discovery: Discovery,
): NextStreamObject {
  const { found, notes, failed } = discovery;
  const failures = notes.filter(isFailure).map(toFailure);
  const { problems: unreadable } = readMarks(current);
  const available = found.filter(({ lifecycle }) => lifecycle?.state !== 'removed').map(({ stream }) => stream);
  const override = readOverride(current);
  const chosen = chooseDefault(current, available, discovery);
  // What was skipped explains why there is no default.
  const skipped = notes.filter((note) => !isFailure(note));
  if (!chosen.ok) return { type: 'leave', problems: [...failures, ...unreadable, ...skipped, chosen.problem] };
  const isOverride = chosen.because === 'override';
  const own = isOverride ? (current?.metadata.annotations?.[ownDefaultStreamAnnotation] ?? null) : chosen.name;
  const status = { availableStreams: available, defaultStream: chosen.name };
  const result = resultAnnotations(found);
  const isSame = isEqual(current?.status, status) && hasLifecycle(current, result[streamLifecycleAnnotation]);
  const isWhole = failures.length === 0;
  return {
    type: 'write',
    wanted: {
      spec: { defaultStream: override ?? chosen.name },
      status,
      annotations: {
        [ownDefaultStreamAnnotation]: own,
        ...result,
        ...(!failed.includes('release image') && { [releasePayloadImageAnnotation]: releaseImage }),
        // Only a complete result is recorded: failed sources are retried. An unchanged one is still a result of its record.
        ...((isWhole || !isSame) && { [streamSourcesAnnotation]: isWhole ? sourcesDigest : null }),
      },
    },
    problems: [...failures, ...unreadable, ...(isOverride ? [] : dangling(current, available))],
  };
}

function resultAnnotations(found: readonly DiscoveredStream[]) {
  const lifecycle = new Map(
    found.flatMap((each) => (each.lifecycle === null ? [] : [[each.stream.name, each.lifecycle] as const])),
  );
  const origins = Object.fromEntries(found.map(({ stream, from }) => [stream.name, from]));
  return {
    [streamLifecycleAnnotation]: encodeLifecycle(lifecycle),
    [streamOriginsAnnotation]: JSON.stringify(origins),
  };
}

const hasLifecycle = (current: StreamObjectInput['current'], lifecycle: string | null): boolean =>
  (current?.metadata.annotations?.[streamLifecycleAnnotation] ?? null) === lifecycle;

const isFailure = ({ code }: StreamNote): boolean => code === 'SLW_STREAM_SOURCE_FAILED';

const toFailure = ({ code, message }: StreamNote): CodedProblem => ({
  code,
  message: `${message}. Slipway keeps the streams that this source provided last, uses the other sources, and retries until it succeeds`,
});

/** The release image specifies the version: while it cannot be read, our default stays. */
function chooseDefault(
  current: StreamObjectInput['current'],
  available: readonly Stream[],
  { version, failed }: Discovery,
): ReturnType<typeof selectDefaultStream> {
  const override = readOverride(current);
  const isChosen = override !== null && findStream(available, override) !== undefined;
  const own = failed.includes('release image') ? findOwnDefault(current, available) : undefined;
  if (isChosen || own === undefined) return selectDefaultStream({ version, available, override });
  return { ok: true, name: own.name, because: 'version' };
}

/** The default that we set last. */
const findOwnDefault = (current: StreamObjectInput['current'], available: readonly Stream[]): Stream | undefined =>
  findStream(
    available,
    current?.metadata.annotations?.[ownDefaultStreamAnnotation] ?? current?.status?.defaultStream ?? '',
  );

/**
 * The streams of all sources. A source that fails counts with what it provided last, so that a registry that is down
 * removes no stream, and no source with a lower precedence changes its images.
 */
function keepLastStreams(
  current: StreamObjectInput['current'],
  { found, failed }: Discovery,
): readonly DiscoveredStream[] {
  const origins = decodeOrigins(current?.metadata.annotations?.[streamOriginsAnnotation]);
  const lifecycle = decodeLifecycle(current?.metadata.annotations?.[streamLifecycleAnnotation]);
  const kept = (current?.status?.availableStreams ?? []).flatMap((stream): DiscoveredStream[] => {
    // Objects of older versions record no origins.
    const from = origins.get(stream.name) ?? failed.at(-1);
    if (from === undefined || !failed.includes(from)) return [];
    const rival = found.find((each) => isSameStream(each.stream.name, stream.name));
    if (rival !== undefined && sourcePrecedence.indexOf(rival.from) > sourcePrecedence.indexOf(from)) return [];
    return [{ stream, from, lifecycle: lifecycle.get(stream.name) ?? null }];
  });
  const others = found.filter(({ stream }) => !kept.some((each) => isSameStream(each.stream.name, stream.name)));
  return [...others, ...kept].sort((a, b) => (a.stream.name < b.stream.name ? -1 : 1)).slice(0, MAX_STREAMS);
}

const readMarks = (current: StreamObjectInput['current']): StreamMarks =>
  readStreamMarks(current?.metadata.annotations?.[streamMarksAnnotation]);

/** The mark of a user takes precedence over the payload. */
function applyMarks(
  current: StreamObjectInput['current'],
  found: readonly DiscoveredStream[],
): readonly DiscoveredStream[] {
  const { marks } = readMarks(current);
  return found.map(({ stream, from, lifecycle }) => {
    const mark = [...marks].find(([name]) => isSameStream(name, stream.name))?.[1];
    return { stream, from, lifecycle: mark ?? lifecycle };
  });
}

/** Any client may have written there: invalid entries are ignored. */
function decodeOrigins(text: string | undefined): ReadonlyMap<string, SourceName> {
  const decoded = decode(readableEntries(oneOf(sourcePrecedence)), text ?? '{}', { maxChars: MAX_ORIGINS_LENGTH });
  return decoded.ok ? decoded.value : new Map();
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
