// The objects of a cluster after manifests are applied to it.
import type { MachineConfig, MachineConfigPool, MachineConfiguration } from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import { canonicalJson } from '../render/rendered-name.ts';
import type { FleetState, PlannedObject } from './fleet-plan.ts';

/** What users and their tools apply. */
export interface AppliedManifests {
  readonly machineConfigs: readonly MachineConfig[];
  readonly pools: readonly MachineConfigPool[];
  readonly settings: MachineConfiguration | undefined;
}

export interface Applied {
  readonly state: FleetState;
  readonly objects: readonly PlannedObject[];
}

/** Unchanged objects keep their identity, so callers can compare references. */
export function applyManifests(before: FleetState, given: AppliedManifests): Applied {
  const machineConfigs = applyAll('MachineConfig', before.machineConfigs, given.machineConfigs, applyMachineConfig);
  const pools = applyAll('MachineConfigPool', before.pools, given.pools, applyThreeWay);
  const settings = applyAll('MachineConfiguration', toList(before.settings), toList(given.settings), applyThreeWay);
  return {
    state: { ...before, machineConfigs: machineConfigs.all, pools: pools.all, settings: settings.all[0] },
    objects: [...machineConfigs.objects, ...pools.objects, ...settings.objects],
  };
}

/** The same for a complete set of manifests: objects that are not in it are removed. */
export function replaceManifests(before: FleetState, given: AppliedManifests): Applied {
  const { state, objects } = applyManifests(before, given);
  const kept = {
    machineConfigs: keepNamed(state.machineConfigs, given.machineConfigs),
    pools: keepNamed(state.pools, given.pools),
    settings: given.settings === undefined ? undefined : state.settings,
  };
  const removed = [
    ...removedFrom('MachineConfig', before.machineConfigs, kept.machineConfigs),
    ...removedFrom('MachineConfigPool', before.pools, kept.pools),
    ...removedFrom('MachineConfiguration', toList(before.settings), toList(kept.settings)),
  ];
  return { state: { ...state, ...kept }, objects: [...objects, ...removed] };
}

function keepNamed<T extends NamedObject>(all: readonly T[], given: readonly NamedObject[]): T[] {
  const names = new Set(given.map(({ metadata }) => metadata.name));
  return all.filter(({ metadata }) => names.has(metadata.name));
}

function removedFrom(kind: string, before: readonly NamedObject[], after: readonly NamedObject[]): PlannedObject[] {
  const names = new Set(after.map(({ metadata }) => metadata.name));
  return before
    .filter(({ metadata }) => !names.has(metadata.name))
    .map(({ metadata }) => ({ kind, name: metadata.name, change: 'removed' }));
}

const toList = <T>(value: T | undefined): T[] => (value === undefined ? [] : [value]);

interface NamedObject {
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
}

function applyAll<T extends NamedObject>(
  kind: string,
  live: readonly T[],
  given: readonly T[],
  apply: (live: T, given: T) => T,
): { all: T[]; objects: PlannedObject[] } {
  const all = new Map(live.map((object) => [object.metadata.name, object]));
  const objects = given.map((object): PlannedObject => {
    const { name } = object.metadata;
    const found = all.get(name);
    const next = found === undefined ? object : apply(found, object);
    const isSame =
      found !== undefined && canonicalJson(pickComparedFields(found)) === canonicalJson(pickComparedFields(next));
    if (!isSame) all.set(name, next);
    if (found === undefined) return { kind, name, change: 'new' };
    return { kind, name, change: isSame ? 'same' : 'changed' };
  });
  return { all: [...all.values()], objects };
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** The fields that matter: no status, no version, and not the annotation of kubectl. */
function pickComparedFields(object: NamedObject): object {
  const { labels = {}, annotations = {} } = object.metadata;
  const { [LAST_APPLIED]: _kubectls, ...others } = annotations;
  return { labels, annotations: others, spec: 'spec' in object ? object.spec : undefined };
}

/** Only its user writes the spec of a MachineConfig, so a manifest replaces it completely. */
function applyMachineConfig(live: MachineConfig, given: MachineConfig): MachineConfig {
  const { spec: _old, ...merged } = applyThreeWay(live, given);
  const isSame = canonicalJson(live.spec ?? {}) === canonicalJson(given.spec ?? {});
  // Like the API server: stored remote content belongs to one generation.
  const generation = (live.metadata.generation ?? 0) + (isSame ? 0 : 1);
  const metadata = { ...merged.metadata, generation };
  return { ...merged, metadata, ...(given.spec !== undefined && { spec: given.spec }) };
}

/** Others write these objects too (render, `slipway pause`): other fields stay, unless the manifest had them before. */
function applyThreeWay<T extends NamedObject>(live: T, given: T): T {
  const last = lastApplied(live);
  const metadata = {
    ...live.metadata,
    ...mapIn('labels', last['metadata'], given.metadata, live.metadata),
    ...mapIn('annotations', last['metadata'], given.metadata, live.metadata),
  };
  const spec = mapIn('spec', last, given, live);
  return { ...live, metadata, ...spec };
}

function mapIn(field: string, last: unknown, given: object, live: object): object {
  const merged = merge(getField(last, field), getField(given, field), getField(live, field));
  return merged === undefined ? {} : { [field]: merged };
}

const getField = (value: unknown, field: string): unknown => (isRecord(value) ? value[field] : undefined);

/** Like `kubectl apply` for custom resources: maps field by field, everything else as a whole. */
function merge(last: unknown, given: unknown, live: unknown): unknown {
  if (given === undefined) return last === undefined ? live : undefined;
  if (!isRecord(given) || !isRecord(live)) return given;
  const merged: Record<string, unknown> = {};
  for (const field of new Set([...Object.keys(live), ...Object.keys(given)])) {
    const value = merge(getField(last, field), given[field], live[field]);
    if (value !== undefined) merged[field] = value;
  }
  return merged;
}

function lastApplied({ metadata }: NamedObject): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(metadata.annotations?.[LAST_APPLIED] ?? '{}');
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
