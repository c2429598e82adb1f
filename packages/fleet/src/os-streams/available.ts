// The streams that there are, by name.
import { isSameStream, knownStream, streamStep } from '@slipway/api';
import type { Stream, StreamLifecycle, Streams } from './facts.ts';

/** As Kubernetes names objects, which is what the API takes for a stream. */
const namePattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MAX_NAME = 253;
const MAX_NAMES = 10;

export const isStreamName = (text: string): boolean => text.length <= MAX_NAME && namePattern.test(text);

/** By its own name, else by one that means the same. */
export const findStream = (available: readonly Stream[], name: string): Stream | undefined =>
  available.find((each) => each.name === name) ?? available.find((each) => isSameStream(each.name, name));

/** For a sentence. */
export function listStreams(available: readonly { readonly name: string }[]): string {
  const names = available.map(({ name }) => name).sort();
  if (names.length === 0) return 'none';
  const more = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** What the payload says of a stream, under whichever name; undefined: nothing, so it lives. */
export function lifecycleOf(name: string, { lifecycle }: Streams): StreamLifecycle | undefined {
  const exact = lifecycle.get(name);
  if (exact !== undefined) return exact;
  for (const [other, found] of lifecycle) if (isSameStream(other, name)) return found;
  return undefined;
}

/**
 * Where a pool on a stream can go: what the payload names, else the next one of the family that is in full life, else
 * any that is. Empty: nowhere.
 */
export function successorsOf(name: string, streams: Streams): string[] {
  const named = lifecycleOf(name, streams)?.successor ?? null;
  const successor = named === null ? undefined : findStream(streams.available, named);
  if (successor !== undefined && canGo(name, successor.name)) return [successor.name];
  const living = streams.available
    .map((each) => each.name)
    .filter((each) => canGo(name, each) && lifecycleOf(each, streams) === undefined);
  const next = living.filter((each) => streamStep(name, each) === 'forward').sort(byMajor);
  return next.length > 0 ? next.slice(0, 1) : living.sort();
}

const canGo = (from: string, to: string): boolean => ['forward', 'unknown'].includes(streamStep(from, to));

const byMajor = (a: string, b: string): number => (knownStream(a)?.major ?? 0) - (knownStream(b)?.major ?? 0);
