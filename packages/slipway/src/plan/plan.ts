// `slipway plan`: reads a fleet and manifests, and plans what applying them would do. Nothing here writes.
import type { PodDisruptionBudget } from '@slipway/api';
import { missingBuiltIn, ProblemList } from '@slipway/fleet';
import {
  type Applied,
  applyManifests,
  type EvictedPod,
  evictedPod,
  toExitCode,
  type FleetPlan,
  type FleetState,
  type Machines,
  planFleet,
  type PlanRequest,
  replaceManifests,
  withEvictions,
} from '@slipway/fleet/plan';
import { type Client, isKubeError } from '@slipway/kube';
import { CommandError } from '../cli/errors.ts';
import { createProgress, type Io, type Progress, toJson, write, writeLines } from '../cli/io.ts';
import type { ManifestOptions, RenderOptions } from '../cli/options.ts';
import type { ClusterOptions } from '../cli/program.ts';
import { reportProblems, useCluster } from '../cli/run.ts';
import { readDocuments } from '../manifests/documents.ts';
import { machineConfigReader } from '../render/remote-content.ts';
import { suggestVersion } from '../render/render.ts';
import { readCluster, readPods } from './read-cluster.ts';
import { readConfigs, snapshotReader } from './read-configs.ts';
import { appliedManifests, type Dump, type OfflineFleet, readOffline } from './read-offline.ts';
import { planText } from './text.ts';

export interface PlanOptions extends ManifestOptions, ClusterOptions {
  offline?: boolean;
  from?: string;
  output: 'text' | 'json';
  verbose?: boolean;
  showSecrets?: boolean;
}

export const runPlan = (options: PlanOptions, io: Io): Promise<void> =>
  reportProblems(io, async () => {
    const progress = createProgress(io.stderr);
    const { plan, notes } = await (options.offline === true ? planOffline : planOnline)(options, io, progress);
    await writeLines(io.stderr, [...notes, ...plan.warnings.map((warning) => `warning: ${warning}`)]);
    const verbose = options.verbose ?? false;
    await write(io.stdout, options.output === 'json' ? toJson(plan, options) : planText(plan, { verbose }), options);
    io.setExitCode(toExitCode(plan));
    if (plan.problems.length > 0) throw new ProblemList(plan.problems);
  });

async function planOnline(options: PlanOptions, io: Io, progress: Progress): Promise<PlanResult> {
  if (options.from !== undefined) {
    throw new CommandError(
      'SLW_CLI_USAGE',
      '--from: expected together with --offline, found it without. Without --offline, the plan reads the current fleet from the cluster',
    );
  }
  const { documents, findings } = await readDocuments(options.filename, io.stdin);
  const { given, notes } = appliedManifests(documents, findings);
  try {
    const result = await useCluster(options, (client) =>
      planCluster(client, options, progress, (before) => applyManifests(before, given)),
    );
    return { plan: result.plan, notes: [...notes, ...result.notes] };
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_CONFIG_MISSING')) throw error;
    throw new CommandError('SLW_CLI_PLAN_SOURCE', `${error.message}, or plan without a cluster with --offline`, {
      cause: error,
    });
  }
}

export interface PlanResult {
  readonly plan: FleetPlan;
  /** What was assumed or ignored, one line each. */
  readonly notes: readonly string[];
}

export interface ClusterPlanOptions extends RenderOptions {
  showSecrets?: boolean;
}

/** `change` computes the state after the change; it may throw to refuse. */
export async function planCluster(
  client: Client,
  options: ClusterPlanOptions,
  progress: Progress,
  change: (before: FleetState) => Applied,
): Promise<PlanResult> {
  const { state: before, machines, notes } = await readCluster(client, options, progress);
  const applied = withBuiltIn(change(before), options);
  const reader = snapshotReader(
    client,
    options.namespace,
    machineConfigReader(options),
    'this plan fetches it, and the controllers fetch it again when the manifest is applied',
  );
  const read = await readConfigs([before, applied.state], reader.read, progress);
  const plan = await planChange(before, applied, { machines, read, showSecrets: options.showSecrets });
  const drained = drainedIn(plan);
  if (drained.size === 0) return { plan, notes: [...notes, ...reader.notes] };
  const found = await readPods(client, drained, progress);
  return {
    plan: withEvictions(plan, found.pods, found.budgets),
    notes: [...notes, ...reader.notes, ...found.notes],
  };
}

/** With what the controllers create for a new pool `arbiter`. */
function withBuiltIn({ state, objects }: Applied, { daemonImage }: RenderOptions): Applied {
  const missing = missingBuiltIn(state, { controllerVersion: state.controllerVersion, daemonImage });
  return { state: { ...state, machineConfigs: [...state.machineConfigs, ...missing] }, objects };
}

const planChange = (
  before: FleetState,
  { state: after, objects }: Applied,
  { showSecrets = false, ...given }: Pick<PlanRequest, 'machines' | 'read'> & { showSecrets: boolean | undefined },
): Promise<FleetPlan> => planFleet({ ...given, now: Date.now(), before, after, objects, showSecrets });

const drainedIn = ({ pools }: FleetPlan): ReadonlySet<string> =>
  new Set(pools.flatMap(({ nodes }) => nodes).flatMap(({ name, drain }) => (drain === null ? [] : [name])));

async function planOffline(options: PlanOptions, io: Io, progress: Progress): Promise<PlanResult> {
  const after = await readOffline(options.filename, io.stdin, options);
  const now = options.from === undefined ? undefined : await readOffline([options.from], io.stdin, options);
  const { before, applied } = now === undefined ? compareWithOwnState(after) : compareFleets(now, after);
  const { dump, machines } = selectMachines(now, after);
  const read = await readConfigs([before, applied.state], machineConfigReader(options), progress);
  const { problems, ...rest } = await planChange(before, applied, { machines, read, showSecrets: options.showSecrets });
  const plan: FleetPlan = { ...rest, problems: problems.map((problem) => suggestVersion(problem, after)) };
  const pods = dump.pods.map(evictedPod).filter((pod): pod is EvictedPod => pod !== null);
  const budgets: readonly PodDisruptionBudget[] = dump.budgets;
  return {
    plan: dump.pods.length === 0 ? plan : withEvictions(plan, pods, budgets),
    notes: [...(now?.notes.map((note) => `${options.from}: ${note}`) ?? []), ...after.notes],
  };
}

/** The machines of --from, else those among the manifests. */
function selectMachines(now: OfflineFleet | undefined, after: OfflineFleet): { dump: Dump; machines: Machines } {
  const dump = now !== undefined && now.dump.nodes.length > 0 ? now.dump : after.dump;
  const rendered = new Map([...after.rendered, ...(now?.rendered ?? [])]);
  return { dump, machines: { nodes: dump.nodes, rendered, controllerNode: null } };
}

function compareFleets(now: OfflineFleet, after: OfflineFleet): { before: FleetState; applied: Applied } {
  const applied = replaceManifests(now.state, after.given);
  const { osImages, streams, controllerVersion } = after.state;
  const state = { ...applied.state, osImages, streams: streams ?? applied.state.streams, controllerVersion };
  return { before: now.state, applied: { ...applied, state } };
}

/** A dump contains its own current state: its pools point to their rendered configs, which it may lack. */
function compareWithOwnState({ state }: OfflineFleet): { before: FleetState; applied: Applied } {
  const pools = state.pools.filter(({ spec }) => spec.configuration?.name !== undefined);
  return { before: { ...state, pools, machineConfigs: [] }, applied: { state, objects: [] } };
}
