// OS image streams by name: which names are aliases, and how streams are ordered.

export interface KnownStream {
  /** The label in current release payloads. */
  readonly name: string;
  /** Other names of the same stream. */
  readonly aliases: readonly string[];
  /** Streams of one family succeed each other. A machine cannot move to another family. */
  readonly family: 'rhel' | 'centos' | 'fedora';
  /** Increases within a family. Null: a rolling stream without versions. */
  readonly major: number | null;
}

/** The only list of streams: defaults, ordering, admission and messages use it. */
export const knownStreams: readonly KnownStream[] = [
  { name: 'rhel-9', aliases: ['rhel9-coreos'], family: 'rhel', major: 9 },
  { name: 'rhel-10', aliases: ['rhel10-coreos'], family: 'rhel', major: 10 },
  { name: 'centos-9', aliases: [], family: 'centos', major: 9 },
  { name: 'centos-10', aliases: ['stream-coreos'], family: 'centos', major: 10 },
  { name: 'fedora-coreos', aliases: [], family: 'fedora', major: null },
];

/** Undefined for a stream of which only the name is known. */
export const knownStream = (name: string): KnownStream | undefined =>
  knownStreams.find((each) => each.name === name || each.aliases.includes(name));

/** Whether two names refer to the same stream. */
export const isSameStream = (a: string, b: string): boolean =>
  a === b || (knownStream(a) !== undefined && knownStream(a) === knownStream(b));

/** The direction of a move from `from` to `to`. `unknown`: at least one of them has no known order. */
export function streamStep(from: string, to: string): 'same' | 'forward' | 'backward' | 'other family' | 'unknown' {
  if (isSameStream(from, to)) return 'same';
  const [a, b] = [knownStream(from), knownStream(to)];
  if (a === undefined || b === undefined) return 'unknown';
  if (a.family !== b.family) return 'other family';
  return (b.major ?? 0) > (a.major ?? 0) ? 'forward' : 'backward';
}
