// The boot image conditions of MachineConfiguration `cluster`, with names and with counts for each kind of resource.
import { annotationCodec, integer, object, readableEntries, string, time } from '@slipway/base/codec';
import { listNames, truncate } from '@slipway/base/text';
import type { Decision } from './decide.ts';
import { keyOfMachines } from './facts.ts';
import { isElsewhere } from './preconditions.ts';
import type { BootImageCode, MachineResource, ResourceVerdict } from './verdict.ts';

export interface BootImageCondition {
  readonly type: 'BootImageUpdateProgressing' | 'BootImageUpdateDegraded';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** The part of a decision that is reported. */
type Finding = Pick<Decision, 'verdict' | 'gate' | 'isUnknown'>;

interface ConditionsInput {
  readonly decisions: readonly Finding[];
  readonly failures: Failures;
  /** Settings that have no effect. */
  readonly notes: readonly string[];
  readonly now: number;
}

const MAX_NAMES = 10;
const MAX_ERRORS = 10;
const MAX_ERROR = 600;

/** The platform's exact words, because other tools parse them. */
const kinds = ['MAPI MachineSets', 'ControlPlaneMachineSets', 'CAPI MachineSets', 'CAPI MachineDeployments'] as const;
type Counted = (typeof kinds)[number];

type UpdateState = 'done' | 'skipped' | 'going' | 'degraded';

interface SelectedResource {
  readonly verdict: ResourceVerdict;
  readonly kind: Counted;
  readonly standing: UpdateState;
}

export function bootImageConditions(input: ConditionsInput): readonly [BootImageCondition, BootImageCondition] {
  const selected = input.decisions.filter(isSelected);
  const enrolled = selected.map((decision) => classifyResource(decision, input));
  const unknown = selected.filter(({ isUnknown }) => isUnknown).map(({ verdict }) => verdict.resource);
  return [progressing(enrolled, [...listAdoptionNotes(unknown), ...input.notes]), degraded(enrolled)];
}

/** What to do about resources whose image may be of an earlier release. */
export const listAdoptionNotes = (unknown: readonly MachineResource[]): readonly string[] =>
  unknown.length === 0
    ? []
    : [
        `Not updated, because Slipway does not know the image: ${listed(unknown)}. If a release shipped it, run: slipway bootimages adopt`,
      ];

/** Whether the opt-in covers this resource and it is not handled through another one. */
export const isSelected = ({ gate }: Pick<Decision, 'gate'>): boolean => gate !== 'not opted in' && !isElsewhere(gate);

function classifyResource({ verdict }: Finding, { failures, now }: ConditionsInput): SelectedResource {
  return { verdict, kind: toCountedKind(verdict.resource), standing: computeUpdateState(verdict, failures, now) };
}

const toCountedKind = ({ api, kind }: MachineResource): Counted => {
  if (api === 'machine.openshift.io') return 'MAPI MachineSets';
  return kind === 'MachineSet' ? 'CAPI MachineSets' : 'CAPI MachineDeployments';
};

/** A failure that is retried still counts as progressing, until it has lasted long enough to be reported. */
function computeUpdateState({ resource, verdict }: ResourceVerdict, failures: Failures, now: number): UpdateState {
  if (verdict === 'current') return 'done';
  if (verdict === 'update') return 'going';
  if (verdict !== 'failed') return 'skipped';
  return isCounting(findFailure(failures, keyOfMachines(resource)), now) ? 'degraded' : 'going';
}

function progressing(enrolled: readonly SelectedResource[], notes: readonly string[]): BootImageCondition {
  const isGoing = enrolled.some(({ standing }) => standing === 'going');
  const counts = kinds.map((kind) => {
    const those = enrolled.filter((each) => each.kind === kind);
    const skipped = countInState(those, 'skipped');
    return `Reconciled ${countInState(those, 'done')} of ${those.length} ${kind}${skipped > 0 ? ` (${skipped} skipped)` : ''}`;
  });
  const names = [named('Pending', enrolled, 'going'), named('Skipped', enrolled, 'skipped')];
  return {
    type: 'BootImageUpdateProgressing',
    status: isGoing ? 'True' : 'False',
    reason: isGoing ? 'BootImagesUpdating' : 'AsExpected',
    message: [counts.join(' | '), ...names, ...notes].filter((part) => part !== '').join('. '),
  };
}

const countInState = (those: readonly SelectedResource[], standing: UpdateState): number =>
  those.filter((each) => each.standing === standing).length;

function named(word: string, enrolled: readonly SelectedResource[], standing: UpdateState): string {
  const those = enrolled.filter((each) => each.standing === standing).map(({ verdict }) => verdict.resource);
  return those.length === 0 ? '' : `${word}: ${listed(those)}`;
}

function degraded(enrolled: readonly SelectedResource[]): BootImageCondition {
  const bad = enrolled.filter(({ standing }) => standing === 'degraded');
  const counts = kinds.map((kind) => `${bad.filter((each) => each.kind === kind).length} Degraded ${kind}`);
  const errors = formatErrors(bad.map(({ verdict }) => verdict));
  return {
    type: 'BootImageUpdateDegraded',
    status: bad.length > 0 ? 'True' : 'False',
    reason: bad.length > 0 ? 'BootImageUpdateFailed' : 'AsExpected',
    message: [...counts, ...(errors === '' ? [] : [`Error(s): ${errors}`])].join(' | '),
  };
}

/** Lists a cause that affects many resources, such as a missing ConfigMap, once with all their names. */
function formatErrors(verdicts: readonly ResourceVerdict[]): string {
  const byCause = Map.groupBy(verdicts, ({ why, code }) => `${truncate(why, MAX_ERROR)} [${code}]`);
  const causes = [...byCause].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const shown = causes
    .slice(0, MAX_ERRORS)
    .map(([cause, those]) => `${listed(those.map(({ resource }) => resource))}: ${cause}`);
  const more = causes.length - MAX_ERRORS;
  return `${shown.join('; ')}${more > 0 ? `; and ${more} other errors` : ''}`;
}

const listed = (resources: readonly MachineResource[]): string =>
  listNames(resources.map(({ namespace, name }) => `${namespace}/${name}`).sort(), { max: MAX_NAMES });

// Which resources fail, how often and since when: only a lasting failure is reported. Stored on MachineConfiguration
// `cluster` to survive a restart. Incomplete data is ignored.

export interface Failure {
  /** One of our codes, or a code of a newer version. */
  readonly code: string;
  /** Stops at the threshold: counting on would only cause more writes. */
  readonly count: number;
  readonly since: string;
}

/** By key of the resource. */
export type Failures = ReadonlyMap<string, Failure>;

/** Reported after `count` failures, at least `apartMs` apart, the first of them `forMs` ago. */
export const failureThreshold = { count: 3, apartMs: 60_000, forMs: 5 * 60_000 } as const;

const MAX_KEPT = 200;
const MAX_ANNOTATION = 64 * 1024;
/** Key of the entry for all resources that have none. */
const OTHERS = '*';

/**
 * Drops resources that have recovered or no longer exist. One that is about to be updated has not recovered: after a
 * restart that is the verdict of every resource whose write fails.
 */
export function nextFailures(before: Failures, verdicts: readonly ResourceVerdict[], now: number): Failures {
  return new Map(
    verdicts.flatMap(({ resource, verdict, code }): [string, Failure][] => {
      const key = keyOfMachines(resource);
      if (verdict === 'failed' && code !== null) return [[key, nextFailure(findFailure(before, key), code, now)]];
      const kept = verdict === 'update' ? before.get(key) : undefined;
      return kept === undefined ? [] : [[key, kept]];
    }),
  );
}

function nextFailure(before: Failure | undefined, code: BootImageCode, now: number): Failure {
  const since = before === undefined ? Number.NaN : Date.parse(before.since);
  // If the clock was set back, start counting again: otherwise the failure would never be reported.
  if (before === undefined || !(since <= now)) return { code, count: 1, since: new Date(now).toISOString() };
  const isNext = before.count < failureThreshold.count && now >= since + before.count * failureThreshold.apartMs;
  return { code, count: before.count + (isNext ? 1 : 0), since: before.since };
}

export const findFailure = (failures: Failures, key: string): Failure | undefined =>
  failures.get(key) ?? failures.get(OTHERS);

/** Whether the failure is reported. */
export const isCounting = (failure: Failure | undefined, now: number): boolean =>
  failure !== undefined &&
  failure.count >= failureThreshold.count &&
  now - Date.parse(failure.since) >= failureThreshold.forMs;

/** Time until a failure may next count; null: never. */
export function untilNextFailure(failures: Failures, now: number): number | null {
  const due = [...failures.values()]
    .filter((failure) => !isCounting(failure, now))
    .map((failure) => dueAt(failure) - now);
  return due.length === 0 ? null : Math.max(0, Math.min(...due));
}

function dueAt({ count, since }: Failure): number {
  const { count: enough, apartMs, forMs } = failureThreshold;
  return Date.parse(since) + (count < enough ? count * apartMs : forMs);
}

/** Null: there are no failures, and the annotation is removed. */
export function encodeFailures(failures: Failures): string | null {
  if (failures.size === 0) return null;
  const sorted = [...failures].toSorted(([aKey, a], [bKey, b]) =>
    a.since === b.since
      ? Number(aKey > bKey) - Number(aKey < bKey)
      : Number(a.since > b.since) - Number(a.since < b.since),
  );
  const kept = sorted.slice(0, MAX_KEPT);
  // The youngest of the omitted failures represents them all, so that none is reported too early.
  const last = sorted.length > MAX_KEPT ? sorted.at(-1) : undefined;
  return JSON.stringify(Object.fromEntries(last === undefined ? kept : [...kept, [OTHERS, last[1]]]));
}

export const decodeFailures = (text: string | undefined): Failures => failuresCodec.decode(text);

const failuresCodec = annotationCodec({
  decoder: readableEntries(object({ code: string(), count: integer({ min: 1 }), since: time })),
  maxChars: MAX_ANNOTATION,
  missing: new Map(),
  unreadable: new Map(),
});
