// Streams of OS images by name: which names mean the same, and which is newer than which.

export interface KnownStream {
  /** As payloads of today label it. */
  readonly name: string;
  /** Names that mean the same stream. */
  readonly aliases: readonly string[];
  /** Streams of one family follow each other; a machine cannot go from one family to another. */
  readonly family: 'rhel' | 'centos' | 'fedora';
  /** Grows within a family. Null: it has no versions, and is followed for ever. */
  readonly major: number | null;
}

/** The only list of streams: defaults, order, admission and messages all follow it. */
export const knownStreams: readonly KnownStream[] = [
  { name: 'rhel-9', aliases: ['rhel9-coreos'], family: 'rhel', major: 9 },
  { name: 'rhel-10', aliases: ['rhel10-coreos'], family: 'rhel', major: 10 },
  { name: 'centos-9', aliases: [], family: 'centos', major: 9 },
  { name: 'centos-10', aliases: ['stream-coreos'], family: 'centos', major: 10 },
  { name: 'fedora-coreos', aliases: [], family: 'fedora', major: null },
];

/** Undefined: a stream that we know nothing of beyond its name. */
export const knownStream = (name: string): KnownStream | undefined =>
  knownStreams.find((each) => each.name === name || each.aliases.includes(name));

/** Whether two names mean one stream. */
export const isSameStream = (a: string, b: string): boolean =>
  a === b || (knownStream(a) !== undefined && knownStream(a) === knownStream(b));

/** How a machine on `from` gets to `to`. `unknown`: at least one of them has no place in an order. */
export function streamStep(from: string, to: string): 'same' | 'forward' | 'backward' | 'other family' | 'unknown' {
  if (isSameStream(from, to)) return 'same';
  const [a, b] = [knownStream(from), knownStream(to)];
  if (a === undefined || b === undefined) return 'unknown';
  if (a.family !== b.family) return 'other family';
  return (b.major ?? 0) > (a.major ?? 0) ? 'forward' : 'backward';
}
