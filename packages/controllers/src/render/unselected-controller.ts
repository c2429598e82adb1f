// Reports MachineConfigs that no pool selects, as events: the API server accepts them, and no machine ever gets them.
import { machineConfigPools, machineConfigs } from '@slipway/api';
import { formatProblem } from '@slipway/fleet';
import { type Finding, unselectedMachineConfigs } from '@slipway/fleet/check';
import { again, type ControllerDef, done } from '@slipway/kube';
import { sourceMachineConfigs } from '../sources.ts';
import { renderedPools } from './gather.ts';

const ALL = 'machine-configs';
/** Users and GitOps tools apply a MachineConfig before its pool, or the other way round. */
const GRACE_MS = 60_000;
/** The rest is reported in later runs: a deleted pool can leave thousands of MachineConfigs. */
const MAX_EVENTS = 50;

interface Unselected {
  /** When this process saw it first. */
  readonly since: number;
  /** The last message that was recorded; '' if there is none yet. */
  readonly reported: string;
}

/** Compares names of the findings with those of the last run. What is selected again is forgotten. */
export function decideReports(
  before: ReadonlyMap<string, Unselected>,
  findings: readonly Finding[],
  now: number,
): { after: Map<string, Unselected>; report: Finding[]; checkAgainMs: number | null } {
  const known = findings.map((finding) => ({
    finding,
    entry: before.get(finding.object) ?? { since: now, reported: '' },
  }));
  const open = known.filter(({ finding, entry }) => entry.reported !== finding.message);
  const report = open.filter(({ entry }) => now - entry.since >= GRACE_MS).slice(0, MAX_EVENTS);
  const after = new Map(known.map(({ finding, entry }) => [finding.object, entry]));
  for (const { finding, entry } of report) {
    after.set(finding.object, { since: entry.since, reported: finding.message });
  }
  const waits = open.filter((each) => !report.includes(each)).map(({ entry }) => entry.since + GRACE_MS - now);
  return {
    after,
    report: report.map(({ finding }) => finding),
    checkAgainMs: waits.length === 0 ? null : Math.max(1000, Math.min(...waits)),
  };
}

/**
 * Records one event per MachineConfig and cause. Which ones have an event is kept in memory only: a new leader records
 * them once more, which is right for events, because they expire.
 */
export function unselectedController(): ControllerDef {
  let known: ReadonlyMap<string, Unselected> = new Map();
  return {
    name: 'unselected-machine-configs',
    reads: [
      { ...sourceMachineConfigs, keysOf: () => [ALL] },
      { ...renderedPools, keysOf: () => [ALL] },
    ],
    owns: [],
    settleMs: 1000,
    reconcile(_, { read, events, now }) {
      const all = [...read(machineConfigs).values()];
      const findings = unselectedMachineConfigs(all, [...read(machineConfigPools).values()]);
      const { after, report, checkAgainMs } = decideReports(known, findings, now().getTime());
      known = after;
      const byName = new Map(all.map((each) => [`MachineConfig ${each.metadata.name}`, each]));
      for (const finding of report) {
        const machineConfig = byName.get(finding.object);
        if (machineConfig === undefined) continue;
        const message = formatProblem(finding);
        events.record(machineConfigs, machineConfig, { type: 'Warning', reason: 'NotSelected', message });
      }
      return Promise.resolve(checkAgainMs === null ? done() : again(checkAgainMs));
    },
  };
}
