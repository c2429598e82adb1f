// The table of mistakes: cases/*.yaml, one file per group.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** Who judges a manifest. */
export type Judge = 'validate' | 'render' | 'plan' | 'ignition' | 'server';

/** Why a judge gives another verdict than `slipway validate`, in one sentence. */
export type Differences = Partial<Record<Exclude<Judge, 'validate'>, string>>;

export interface Mistake {
  /** Also the name of its file, without `file`. */
  readonly id: string;
  readonly manifest: string;
  /** A part of the line that matters, for the reader of messages.txt. */
  readonly line?: string;
  /** No mistake: any finding would be a false alarm. */
  readonly correct?: true;
  /** Why nobody finds the mistake, in one sentence. */
  readonly accepted?: string;
  readonly differs?: Differences;
  readonly encoding?: 'utf-16le';
  /** Its file, if the name matters. */
  readonly file?: string;
}

export interface Group {
  readonly name: string;
  readonly title: string;
  /** Where most cases of the group differ for one reason. A case that agrees is no problem. */
  readonly differs?: Differences;
  readonly cases: readonly Mistake[];
}

const directory = join(import.meta.dirname, 'cases');

function readGroup(name: string): Group {
  const group = parse(readFileSync(join(directory, name), 'utf8')) as Omit<Group, 'name'>;
  return { name, ...group };
}

export const groups: readonly Group[] = readdirSync(directory).sort().map(readGroup);

export const allCases: readonly Mistake[] = groups.flatMap(({ cases }) => cases);

/** Helm's braces are no JSON. */
const isJson = (manifest: string): boolean => /^\{[^{]/.test(manifest);

export const fileOf = ({ id, manifest, file }: Mistake): string =>
  file ?? `${id}${isJson(manifest) ? '.json' : '.yaml'}`;

export const findKinds = ({ manifest }: Mistake): string[] =>
  [...manifest.matchAll(/^[\s-]*"?kind"?: "?([\w-]+)/gm)].map(([, kind]) => kind ?? '');

/** The line that the case is about. */
export function lineOf({ manifest, line }: Mistake): string {
  if (line === undefined) return '';
  return manifest.split('\n').find((each) => each.includes(line)) ?? line;
}
