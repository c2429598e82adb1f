import { inUseLabel, type MachineConfig, sourcesAnnotation } from '@slipway/api';
import type { ItemDiff } from '@slipway/ignition';
import type { Masking } from '../masking.ts';
import { diffRendered } from '../render/diff.ts';
import { readRenderedFrom, type RenderedFrom, type SourceChange, sourceChanges } from '../render/rendered-from.ts';
import type { RolloutRecord, RolloutState } from '../rollout/facts.ts';

// The rollouts and rendered configs of a pool, and what changed from one to the next.

/** The parts of a rendered MachineConfig that history needs. */
export interface RecordedConfig {
  readonly name: string;
  readonly renderedAt: string;
  readonly isInUse: boolean;
  /** Null: not recorded. */
  readonly sources: readonly RenderedFrom[] | null;
  readonly spec: NonNullable<MachineConfig['spec']>;
}

export interface HistoryReport {
  readonly pool: string;
  /** The config that its machines should have. */
  readonly target: string | null;
  /** The newest first; the first may be in progress. */
  readonly rollouts: readonly RolloutEntry[];
  /** Those that still exist, the newest first. */
  readonly configs: readonly ConfigEntry[];
}

export interface RolloutEntry {
  readonly config: string;
  readonly from: string | null;
  readonly outcome: RolloutRecord['outcome'] | 'under way';
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly seconds: number | null;
  readonly nodes: number;
  /** How many were updated at a time; null: it is in progress. */
  readonly capacity: number | null;
  readonly why: string;
  /** From `from` to `config`; null: one of them no longer exists. */
  readonly changes: Changes | null;
}

export interface ConfigEntry {
  readonly name: string;
  readonly renderedAt: string;
  readonly isTarget: boolean;
  readonly isInUse: boolean;
  /** The config that was rendered before it; null: none exists. */
  readonly before: string | null;
  /** From `before` to this one. */
  readonly changes: Changes | null;
}

export interface Changes {
  /** Null: not recorded. */
  readonly machineConfigs: readonly SourceChange[] | null;
  /** Files, units and settings, with secrets hidden; null: they cannot be compared. */
  readonly items: readonly ItemDiff[] | null;
}

export interface HistoryInput {
  readonly pool: string;
  readonly target: string | null;
  readonly state: RolloutState | null;
  readonly history: readonly RolloutRecord[];
  /** The newest first. */
  readonly rendered: readonly RecordedConfig[];
}

export async function historyReport(input: HistoryInput, masking: Masking = {}): Promise<HistoryReport> {
  const { pool, target, rendered } = input;
  const compare = comparing(rendered, masking);
  const rollouts: RolloutEntry[] = [];
  for (const entry of buildEntries(input)) {
    rollouts.push({ ...entry, changes: await compare(entry.from, entry.config) });
  }
  const configs: ConfigEntry[] = [];
  for (const [index, { name, renderedAt, isInUse }] of rendered.entries()) {
    const before = rendered[index + 1]?.name ?? null;
    const isTarget = name === target;
    configs.push({ name, renderedAt, isTarget, isInUse, before, changes: await compare(before, name) });
  }
  return { pool, target, rollouts, configs };
}

type Unchanged = Omit<RolloutEntry, 'changes'>;

function buildEntries({ state, history }: HistoryInput): Unchanged[] {
  const ended = history.map(({ config, from, outcome, startedAt, endedAt, nodes, capacity, why }): Unchanged => ({
    config,
    from,
    outcome,
    startedAt,
    endedAt,
    seconds: Math.max(0, Math.round((Date.parse(endedAt) - Date.parse(startedAt)) / 1000)),
    nodes,
    capacity,
    why,
  }));
  return [...underWay(state), ...ended];
}

function underWay(state: RolloutState | null): Unchanged[] {
  if (state === null || state.endedAt !== null) return [];
  const { target, from, startedAt, nodes, hold, halted } = state;
  const why = halted === null ? (hold?.why ?? '') : `halted: node ${halted.node}: ${halted.reason}`;
  return [
    { config: target, from, outcome: 'under way', startedAt, endedAt: null, seconds: null, nodes, capacity: null, why },
  ];
}

/** Cached: the same two are often compared twice, for a rollout and among the configs. */
function comparing(rendered: readonly RecordedConfig[], masking: Masking) {
  const byName = new Map(rendered.map((config) => [config.name, config]));
  const known = new Map<string, Promise<Changes>>();
  return async (from: string | null, to: string): Promise<Changes | null> => {
    const [before, after] = [byName.get(from ?? ''), byName.get(to)];
    if (before === undefined || after === undefined) return null;
    const key = `${before.name} ${after.name}`;
    const changes = known.get(key) ?? changesBetween(before, after, masking);
    known.set(key, changes);
    return changes;
  };
}

async function changesBetween(before: RecordedConfig, after: RecordedConfig, masking: Masking): Promise<Changes> {
  const { items } = await diffRendered(before.spec, after.spec, masking);
  const isKnown = before.sources !== null && after.sources !== null;
  return { machineConfigs: isKnown ? sourceChanges(before.sources, after.sources) : null, items };
}

export const newestFirst = (a: RecordedConfig, b: RecordedConfig): number =>
  b.renderedAt.localeCompare(a.renderedAt) || a.name.localeCompare(b.name);

export const toRecordedConfig = ({ metadata, spec = {} }: MachineConfig): RecordedConfig => ({
  name: metadata.name,
  renderedAt: metadata.creationTimestamp ?? '',
  isInUse: metadata.labels?.[inUseLabel] !== undefined,
  sources: readRenderedFrom(metadata.annotations?.[sourcesAnnotation]),
  spec,
});
