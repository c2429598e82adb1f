import type { OSImageStream } from '@slipway/api';
import { streamLifecycleAnnotation, streamMarksAnnotation } from '@slipway/api/names';
import {
  decode,
  type Decoder,
  map,
  nullable,
  object,
  oneOf,
  optional,
  readableEntries,
  record,
  refine,
  string,
  withFallback,
} from '@slipway/base/codec';
import type { CodedProblem } from '../problems.ts';
import { isStreamName, type StreamLifecycle, type Streams } from './available.ts';

// The lifecycle of streams: declared by a payload in annotations of a tag, or by a user in an annotation of the
// OSImageStream, and stored there as JSON.

/** On the tag of an OS image in image-references. */
export const lifecycleAnnotations = {
  state: 'io.openshift.os.stream-lifecycle',
  successor: 'io.openshift.os.stream-successor',
  message: 'io.openshift.os.stream-message',
} as const;

/** A payload that removes a stream no longer contains it. */
const payloadStates = ['deprecated', 'blocked'] as const;
const states = [...payloadStates, 'removed'] as const;
const streamName = refine(string(), isStreamName, 'the name of a stream');

/** So that a hundred streams stay well below the 256 KiB that all annotations of an object share. */
const MAX_MESSAGE = 300;

const MAX_STREAMS = 100;

const MAX_TEXT = 200 * 1024;

export interface ReadLifecycle {
  /** Null: the stream is supported. */
  readonly lifecycle: StreamLifecycle | null;
  /** Annotations that were not understood and are ignored. */
  readonly problems: readonly CodedProblem[];
}

/** `tag` is for messages. */
export function lifecycleOfTag(tag: string, annotations: Readonly<Record<string, string>>): ReadLifecycle {
  const said = annotations[lifecycleAnnotations.state];
  if (said === undefined || said === '') return { lifecycle: null, problems: [] };
  const state = payloadStates.find((each) => each === said);
  if (state === undefined) {
    const meaning = 'The stream counts as supported';
    return { lifecycle: null, problems: [problemAt(tag, 'state', payloadStates.join(' or '), said, meaning)] };
  }
  const successor = annotations[lifecycleAnnotations.successor] ?? '';
  const isNamed = isStreamName(successor);
  const lifecycle = {
    state,
    successor: isNamed ? successor : null,
    message: plain(annotations[lifecycleAnnotations.message] ?? ''),
  };
  if (isNamed || successor === '') return { lifecycle, problems: [] };
  const problem = problemAt(tag, 'successor', 'the name of a stream', successor, 'The successor is ignored');
  return { lifecycle, problems: [problem] };
}

function problemAt(
  tag: string,
  field: keyof typeof lifecycleAnnotations,
  expected: string,
  found: string,
  meaning: string,
): CodedProblem {
  const shown = JSON.stringify(found.slice(0, 80));
  const message = `tag ${tag.slice(0, 80)} of image-references, annotation ${lifecycleAnnotations[field]}: expected ${expected}, found ${shown}. ${meaning} until the release is corrected`;
  return { code: 'SLW_STREAM_LIFECYCLE', message };
}

/** One line of text; null: none. */
function plain(text: string): string | null {
  const line = text
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_MESSAGE)
    .trim();
  return line === '' ? null : line;
}

/** For the annotation; independent of the order of streams. Null: all streams are supported. */
export function encodeLifecycle(lifecycle: ReadonlyMap<string, StreamLifecycle>): string | null {
  if (lifecycle.size === 0) return null;
  const sorted = [...lifecycle].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, MAX_STREAMS);
  return JSON.stringify(
    Object.fromEntries(sorted.map(([name, { state, successor, message }]) => [name, { state, successor, message }])),
  );
}

const lifecycle: Decoder<StreamLifecycle> = object({
  state: oneOf(states),
  successor: withFallback(streamName, null),
  message: map(withFallback(string(), ''), plain),
});

/** Strict, so that a user learns of a typing error. */
const mark = object({
  state: oneOf(states),
  successor: optional(nullable(streamName)),
  message: optional(nullable(string())),
});

/** Any client may have written there: invalid entries are ignored. */
export function decodeLifecycle(text: string | undefined): Map<string, StreamLifecycle> {
  const decoded = decode(readableEntries(lifecycle, { key: streamName }), text ?? '{}', { maxChars: MAX_TEXT });
  return new Map([...(decoded.ok ? decoded.value : [])].slice(0, MAX_STREAMS));
}

export interface StreamMarks {
  readonly marks: ReadonlyMap<string, StreamLifecycle>;
  /** Marks that are invalid and ignored. */
  readonly problems: readonly CodedProblem[];
}

/** What a user declares: it takes precedence over the payload. */
export function readStreamMarks(text: string | undefined): StreamMarks {
  if (text === undefined || text.trim() === '') return { marks: new Map(), problems: [] };
  const marks = decodeLifecycle(text);
  const checked = decode(record(mark, { max: MAX_STREAMS, key: streamName }), text, { maxChars: MAX_TEXT });
  if (checked.ok) return { marks, problems: [] };
  const counted = marks.size === 0 ? 'No stream is marked' : `Only the marks of ${[...marks.keys()].join(', ')} count`;
  const message = `OSImageStream cluster, annotation ${streamMarksAnnotation}: ${checked.problem}. ${counted}. Correct it, for example to {"rhel-9":{"state":"blocked","successor":"rhel-10","message":"see the wiki"}}; a state is ${states.join(', ')}`;
  return { marks, problems: [{ code: 'SLW_STREAM_MARK', message }] };
}

// The OSImageStream, in the form that pool decisions use.

/** Null: its status is not set yet. */
export function toStreams({ metadata, status }: Pick<OSImageStream, 'metadata' | 'status'>): Streams | null {
  if (status === undefined) return null;
  return {
    available: status.availableStreams,
    defaultStream: status.defaultStream,
    lifecycle: decodeLifecycle(metadata.annotations?.[streamLifecycleAnnotation]),
  };
}
