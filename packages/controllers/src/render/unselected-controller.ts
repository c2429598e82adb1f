// Reports MachineConfigs that no pool selects, as events: the API server accepts them, and no machine ever gets them.
import { type MachineConfig, machineConfigPools, machineConfigs, ROLE_LABEL } from '@slipway/api';
import { formatProblem } from '@slipway/fleet';
import { type Finding, unselectedMachineConfigs } from '@slipway/fleet/check';
import { again, type ControllerDef, done, type StoreReader, type Stored } from '@slipway/kube';
import { sourceMachineConfigs } from '../sources.ts';
import { renderedPools } from './gather.ts';

const ALL = 'machine-configs';
/** Users and GitOps tools apply a MachineConfig before its pool, or the other way round. */
const GRACE_MS = 60_000;
/** The rest is reported later: a deleted pool can leave thousands, and every restart reports all of them again. */
const MAX_EVENTS = 50;
const WINDOW_MS = 10 * 60_000;

interface Unselected {
  readonly uid: string;
  /** Not the message: that lists the roles of all pools. */
  readonly cause: string;
}

interface Reports {
  /** By UID: since when this process has seen it, and the cause of its last event; '' if there is none yet. */
  readonly known: ReadonlyMap<string, { readonly since: number; readonly reported: string }>;
  /** Events since the first of them. */
  readonly window: { readonly since: number; readonly events: number };
}

const noReports: Reports = { known: new Map(), window: { since: 0, events: 0 } };

/** Which of them get an event now. What is selected again is forgotten. */
function decideReports<T extends Unselected>(
  before: Reports,
  unselected: readonly T[],
  now: number,
): { after: Reports; report: T[]; checkAgainMs: number | null } {
  const isOver = before.window.events === 0 || now - before.window.since >= WINDOW_MS;
  const window = isOver ? { since: now, events: 0 } : before.window;
  const all = unselected.map((each) => ({ each, entry: before.known.get(each.uid) ?? { since: now, reported: '' } }));
  const open = all.filter(({ each, entry }) => entry.reported !== each.cause);
  const [due, early] = [open.filter(isDue), open.filter((one) => !isDue(one))];
  const report = due.slice(0, MAX_EVENTS - window.events);
  const known = new Map(all.map(({ each, entry }) => [each.uid, entry]));
  for (const { each, entry } of report) known.set(each.uid, { since: entry.since, reported: each.cause });
  const waits = early.map(({ entry }) => entry.since + GRACE_MS - now);
  if (due.length > report.length) waits.push(window.since + WINDOW_MS - now);
  return {
    after: { known, window: { since: window.since, events: window.events + report.length } },
    report: report.map(({ each }) => each),
    checkAgainMs: waits.length === 0 ? null : Math.max(1000, Math.min(...waits)),
  };

  function isDue({ entry }: { entry: { since: number } }): boolean {
    return now - entry.since >= GRACE_MS;
  }
}

/**
 * Records one event per MachineConfig and cause. Which ones have an event is kept in memory only: a new leader records
 * them once more, which is right for events, because they expire.
 */
export function unselectedController(): ControllerDef {
  let reports = noReports;
  return {
    name: 'unselected-machine-configs',
    reads: [
      { ...sourceMachineConfigs, keysOf: () => [ALL] },
      { ...renderedPools, keysOf: () => [ALL] },
    ],
    owns: [],
    settleMs: 1000,
    reconcile(_, { read, events, now }) {
      const { after, report, checkAgainMs } = decideReports(reports, listUnselected(read), now().getTime());
      reports = after;
      for (const { machineConfig, finding } of report) {
        const message = formatProblem(finding);
        events.record(machineConfigs, machineConfig, { type: 'Warning', reason: 'NotSelected', message });
      }
      return Promise.resolve(checkAgainMs === null ? done() : again(checkAgainMs));
    },
  };
}

type Found = Unselected & { readonly machineConfig: Stored<MachineConfig>; readonly finding: Finding };

function listUnselected(read: StoreReader): Found[] {
  const live = [...read(machineConfigs).values()].filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const byName = new Map(live.map((each) => [`MachineConfig ${each.metadata.name}`, each]));
  return unselectedMachineConfigs(live, [...read(machineConfigPools).values()]).flatMap((finding) => {
    const machineConfig = byName.get(finding.object);
    if (machineConfig === undefined) return [];
    const { uid, labels } = machineConfig.metadata;
    return [{ uid, cause: `${finding.field} ${labels?.[ROLE_LABEL] ?? ''}`, machineConfig, finding }];
  });
}
