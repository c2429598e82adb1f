// What MachineConfiguration `cluster` says of boot images, with counts for each kind of resource and names.
import type { Decision } from './decide.ts';
import { keyOfMachines } from './facts.ts';
import { type Failures, failureOf, isCounting } from './failures.ts';
import { isElsewhere } from './gates.ts';
import type { MachineResource, ResourceVerdict } from './verdict.ts';

export interface BootImageCondition {
  readonly type: 'BootImageUpdateProgressing' | 'BootImageUpdateDegraded';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** What of a decision is reported. */
type Finding = Pick<Decision, 'verdict' | 'gate'>;

export interface ConditionsInput {
  readonly decisions: readonly Finding[];
  readonly failures: Failures;
  /** What is asked for and cannot be done. */
  readonly notes: readonly string[];
  readonly now: number;
}

const MAX_NAMES = 10;
const MAX_ERRORS = 10;
const MAX_ERROR = 600;

/** The words of the platform, so that what reads them goes on working. */
const kinds = ['MAPI MachineSets', 'ControlPlaneMachineSets', 'CAPI MachineSets', 'CAPI MachineDeployments'] as const;
type Counted = (typeof kinds)[number];

type Standing = 'done' | 'skipped' | 'going' | 'degraded';

interface Enrolled {
  readonly verdict: ResourceVerdict;
  readonly kind: Counted;
  readonly standing: Standing;
}

export function bootImageConditions(input: ConditionsInput): readonly [BootImageCondition, BootImageCondition] {
  const enrolled = input.decisions.filter(isEnrolled).map((decision) => enrolledOf(decision, input));
  return [progressing(enrolled, input.notes), degraded(enrolled)];
}

/** Whether the opt-in is about it, and not about another resource through which it is handled. */
export const isEnrolled = ({ gate }: Pick<Decision, 'gate'>): boolean => gate !== 'not opted in' && !isElsewhere(gate);

function enrolledOf({ verdict }: Finding, { failures, now }: ConditionsInput): Enrolled {
  return { verdict, kind: kindOf(verdict.resource), standing: standingOf(verdict, failures, now) };
}

const kindOf = ({ api, kind }: MachineResource): Counted => {
  if (api === 'machine.openshift.io') return 'MAPI MachineSets';
  return kind === 'MachineSet' ? 'CAPI MachineSets' : 'CAPI MachineDeployments';
};

/** What fails and is tried again is still on its way, until it has failed for so long that it counts. */
function standingOf({ resource, verdict }: ResourceVerdict, failures: Failures, now: number): Standing {
  if (verdict === 'current') return 'done';
  if (verdict === 'update') return 'going';
  if (verdict !== 'failed') return 'skipped';
  return isCounting(failureOf(failures, keyOfMachines(resource)), now) ? 'degraded' : 'going';
}

function progressing(enrolled: readonly Enrolled[], notes: readonly string[]): BootImageCondition {
  const isGoing = enrolled.some(({ standing }) => standing === 'going');
  const counts = kinds.map((kind) => {
    const those = enrolled.filter((each) => each.kind === kind);
    const skipped = countOf(those, 'skipped');
    return `Reconciled ${countOf(those, 'done')} of ${those.length} ${kind}${skipped > 0 ? ` (${skipped} skipped)` : ''}`;
  });
  const names = [named('Not yet', enrolled, 'going'), named('Skipped', enrolled, 'skipped')];
  return {
    type: 'BootImageUpdateProgressing',
    status: isGoing ? 'True' : 'False',
    reason: isGoing ? 'BootImagesUpdating' : 'AsExpected',
    message: [counts.join(' | '), ...names, ...notes].filter((part) => part !== '').join('. '),
  };
}

const countOf = (those: readonly Enrolled[], standing: Standing): number =>
  those.filter((each) => each.standing === standing).length;

function named(word: string, enrolled: readonly Enrolled[], standing: Standing): string {
  const those = enrolled.filter((each) => each.standing === standing).map(({ verdict }) => verdict.resource);
  return those.length === 0 ? '' : `${word}: ${listed(those)}`;
}

function degraded(enrolled: readonly Enrolled[]): BootImageCondition {
  const bad = enrolled.filter(({ standing }) => standing === 'degraded');
  const counts = kinds.map((kind) => `${bad.filter((each) => each.kind === kind).length} Degraded ${kind}`);
  const errors = errorsOf(bad.map(({ verdict }) => verdict));
  return {
    type: 'BootImageUpdateDegraded',
    status: bad.length > 0 ? 'True' : 'False',
    reason: bad.length > 0 ? 'BootImageUpdateFailed' : 'AsExpected',
    message: [...counts, ...(errors === '' ? [] : [`Error(s): ${errors}`])].join(' | '),
  };
}

/** One cause for many, such as a ConfigMap that is gone, is said once with all their names. */
function errorsOf(verdicts: readonly ResourceVerdict[]): string {
  const byCause = Map.groupBy(verdicts, ({ why, code }) => `${cut(why)} [${code}]`);
  const causes = [...byCause].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const shown = causes
    .slice(0, MAX_ERRORS)
    .map(([cause, those]) => `${listed(those.map(({ resource }) => resource))}: ${cause}`);
  const more = causes.length - MAX_ERRORS;
  return `${shown.join('; ')}${more > 0 ? `; and ${more} other errors` : ''}`;
}

const cut = (text: string): string => (text.length <= MAX_ERROR ? text : `${text.slice(0, MAX_ERROR - 1)}…`);

function listed(resources: readonly MachineResource[]): string {
  const names = resources.map(({ namespace, name }) => `${namespace}/${name}`).sort();
  const more = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
