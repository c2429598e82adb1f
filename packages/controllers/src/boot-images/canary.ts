// Tries a new image on one machine before a MachineSet gets it, with a copy of the set that has one replica. All state
// is on the two sets. One MachineSet at a time: each machine costs money and quota.
import { bootImageCanaryLabel, type MachineSet, machineSets } from '@slipway/api';
import { sha256 } from '@slipway/base/hash';
import { canonicalJson } from '@slipway/fleet';
import { annotationSteps, type JsonObject, type Platform, withoutTools } from '@slipway/fleet/boot-images';
import { type Context, type Gate, isKubeError, type Stored } from '@slipway/kube';
import type { VerdictBoard } from './report-controller.ts';

/**
 * On a canary, the digest of the spec it tries. On a MachineSet, the digest of the spec whose canary failed; remove it
 * to try again.
 */
const TRIES_ANNOTATION = 'slipway.dev/boot-image-canary-tries';
const CANARY_FAILED_ANNOTATION = 'slipway.dev/boot-image-canary-failed';
const SET_LABEL = 'machine.openshift.io/cluster-api-machineset';
/** The name of a set is also a label value. */
const MAX_NAME_LENGTH = 63;

type Machines = Stored<MachineSet>;

export type CanaryDecision =
  | { readonly type: 'go' }
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'failed'; readonly why: string };

/** What a MachineSet wants to try, and where. */
export interface CanaryTrial {
  readonly set: Machines;
  readonly providerSpec: JsonObject;
  readonly platform: Platform;
}

/** Which MachineSet gets the next canary. A restart loses only the order. */
export interface CanaryQueue {
  readonly board: VerdictBoard;
  /** A canary is being created, which no cache shows yet. */
  isCreating: boolean;
  /** The name of the MachineSet that got the last canary; '' for none. */
  last: string;
}

/** Whether the set may get this provider spec. */
export async function tryCanary(trial: CanaryTrial, queue: CanaryQueue, context: Context): Promise<CanaryDecision> {
  const { set, providerSpec, platform } = trial;
  const wanted = computeSpecDigest(providerSpec);
  const found = findCanary(set, context);
  const timeoutMs = selectTimeout(platform);
  const step = nextCanaryStep({
    wanted,
    failed: set.metadata.annotations?.[CANARY_FAILED_ANNOTATION] ?? null,
    replicas: set.spec?.replicas ?? 1,
    found: found === undefined ? null : toObservedCanary(found, set),
    others: readOtherSets(set, queue, context),
    timeoutMs,
    now: context.now().getTime(),
  });
  if (step.type === 'make') return { type: 'wait', ms: await createInTurn(trial, queue, context) };
  if (step.type === 'failed') await recordFailure(set, wanted, context);
  if ((step.type === 'failed' || step.type === 'outdated') && found !== undefined)
    await context.write.remove(machineSets, found);
  return toCanaryDecision(step, formatCanaryName(set.metadata.name), timeoutMs);
}

const RETRY_MS = 5000;

/**
 * Creates the canary, unless another set has just created one: after a failed creation two sets can both be first.
 * Returns how long to wait.
 */
async function createInTurn(
  { set, providerSpec, platform }: CanaryTrial,
  queue: CanaryQueue,
  context: Context,
): Promise<number> {
  const timeoutMs = selectTimeout(platform);
  // Soon, because a creation that fails may trigger no reconcile here.
  if (queue.isCreating) return RETRY_MS;
  queue.isCreating = true;
  try {
    const all = await listCanaries(set.metadata.namespace ?? '', context);
    const canariesMadeAt = all.filter((each) => !isOurs(each, set)).map(toCreationTime);
    const ms = untilTurn({ others: { isFirst: true, canariesMadeAt }, timeoutMs, now: context.now().getTime() });
    if (ms > 0) return ms;
    queue.last = set.metadata.name;
    await createCanary(set, providerSpec, context);
    return timeoutMs;
  } finally {
    queue.isCreating = false;
  }
}

const toCreationTime = ({ metadata }: Machines): number => Date.parse(metadata.creationTimestamp ?? '');

/** Before every set has been checked, it is unknown which ones wait. */
function readOtherSets(set: Machines, { board, last }: CanaryQueue, { read }: Context): OtherSets {
  const canaries = [...read(machineSets).values()].filter(
    (each) => each.metadata.labels?.[bootImageCanaryLabel] !== undefined && !isOurs(each, set),
  );
  const { name } = set.metadata;
  return {
    isFirst: board.isComplete(machineApiSets) && selectNext([...listWaiting(board), name], last) === name,
    canariesMadeAt: canaries.map(toCreationTime),
  };
}

const machineApiSets = { api: 'machine.openshift.io', kind: 'MachineSet' } as const;

/** The MachineSet that is next. */
export const findNextInLine = ({ board, last }: CanaryQueue): string | undefined =>
  selectNext(listWaiting(board), last);

/** The MachineSets that are about to change. One that fails stops no other. */
const listWaiting = (board: VerdictBoard): string[] =>
  [...board.values()]
    .filter(({ verdict: { resource, verdict } }) => resource.api === machineApiSets.api && verdict === 'update')
    .map(({ verdict }) => verdict.resource.name);

/**
 * The first by name after the one that got the last canary, then from the start: if another client deletes the canary of
 * one MachineSet each time, the others still get one.
 */
function selectNext(names: readonly string[], last: string): string | undefined {
  const after = names.filter((name) => name > last);
  return (after.length > 0 ? after : names).reduce<string | undefined>(
    (first, name) => (first === undefined || name < first ? name : first),
    undefined,
  );
}

/** Removes the canary of a set that no longer needs one. */
export async function removeCanary(set: Machines, context: Context): Promise<void> {
  const found = findCanary(set, context);
  const isLeft = found !== undefined && isOurs(found, set) && found.metadata.deletionTimestamp === undefined;
  if (isLeft) await context.write.remove(machineSets, found);
}

/** With the gate off, no controller checks a canary: its machine would run, and cost money, forever. */
export const removeCanaries =
  (namespace: string): Gate['whenOff'] =>
  async ({ client, write, log, signal }) => {
    for (const canary of await listCanaries(namespace, { client, signal })) {
      await write.remove(machineSets, canary);
      log.info({ canary: canary.metadata.name }, 'the feature gate is off: deleted a canary');
    }
  };

async function listCanaries(
  namespace: string,
  { client, signal }: Pick<Context, 'client' | 'signal'>,
): Promise<Machines[]> {
  try {
    const labelSelector = bootImageCanaryLabel;
    return await Array.fromAsync(client.list(machineSets, { namespace, labelSelector, signal }));
  } catch (error) {
    if (isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED')) return [];
    throw error;
  }
}

function toCanaryDecision(
  step: Exclude<CanaryStep, { type: 'make' }>,
  name: string,
  timeoutMs: number,
): CanaryDecision {
  switch (step.type) {
    case 'not needed':
    case 'passed':
      return { type: 'go' };
    case 'outdated':
      // A change of the canary triggers the next reconcile.
      return { type: 'wait', ms: timeoutMs };
    case 'wait':
      return { type: 'wait', ms: step.ms };
    case 'taken':
      return {
        type: 'failed',
        why: `expected to create MachineSet ${name} as a canary for the new image, found another MachineSet with that name. Recreate that one under another name`,
      };
    default:
      return {
        type: 'failed',
        why: `MachineSet ${name} tried the new image, and none of its machines became Ready within ${timeoutMs / 60_000} minutes. The old image stays. Find out why, then remove the annotation ${CANARY_FAILED_ANNOTATION} to try again`,
      };
  }
}

const findCanary = ({ metadata }: Machines, { read }: Context): Machines | undefined =>
  read(machineSets).get(`${metadata.namespace ?? ''}/${formatCanaryName(metadata.name)}`);

export function formatCanaryName(name: string): string {
  const end = '-canary';
  if (name.length + end.length <= MAX_NAME_LENGTH) return name + end;
  const hash = sha256(name).slice(0, 8);
  return `${name.slice(0, MAX_NAME_LENGTH - end.length - hash.length - 1)}-${hash}${end}`;
}

const isOurs = ({ metadata }: Machines, set: Machines): boolean =>
  metadata.labels?.[bootImageCanaryLabel] !== undefined &&
  metadata.ownerReferences?.some(({ uid }) => uid === set.metadata.uid) === true;

const toObservedCanary = (found: Machines, set: Machines): ObservedCanary => ({
  isOurs: isOurs(found, set),
  digest: found.metadata.annotations?.[TRIES_ANNOTATION] ?? '',
  madeAt: toCreationTime(found),
  readyReplicas: found.status?.readyReplicas ?? 0,
  isGoing: found.metadata.deletionTimestamp !== undefined,
});

const computeSpecDigest = (spec: JsonObject): string => sha256(canonicalJson(spec)).slice(0, 32);

/** With a stale cache the canary may already exist; its watch event then triggers the set again. */
async function createCanary(set: Machines, providerSpec: JsonObject, { write, log }: Context): Promise<void> {
  const canary = buildCanary(set, providerSpec);
  if ((await write.createIfAbsent(machineSets, canary)) !== undefined)
    log.info({ canary: canary.metadata.name }, 'created a canary: one machine with the new boot image');
}

/**
 * Copies no annotations, because an autoscaler would act on them, and no labels of tools that delete what their source
 * does not contain. Has a distinct selector, so that it does not count the machines of the set.
 */
function buildCanary({ metadata, spec }: Machines, providerSpec: JsonObject): MachineSet {
  const name = formatCanaryName(metadata.name);
  const own = { [SET_LABEL]: name, [bootImageCanaryLabel]: 'true' };
  const { template, selector } = spec ?? {};
  const owner = {
    apiVersion: 'machine.openshift.io/v1beta1',
    kind: 'MachineSet',
    name: metadata.name,
    uid: metadata.uid,
  };
  return {
    metadata: {
      name,
      ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
      labels: { ...withoutTools(metadata.labels), [bootImageCanaryLabel]: 'true' },
      annotations: { [TRIES_ANNOTATION]: computeSpecDigest(providerSpec) },
      ownerReferences: [owner],
    },
    spec: {
      replicas: 1,
      selector: { ...selector, matchLabels: { ...selector?.matchLabels, ...own } },
      template: {
        ...template,
        metadata: { ...template?.metadata, labels: { ...template?.metadata?.labels, ...own } },
        spec: { ...template?.spec, providerSpec: { value: providerSpec } },
      },
    },
  };
}

async function recordFailure(set: Machines, digest: string, { write }: Context): Promise<void> {
  const steps = annotationSteps(set.metadata.annotations, { [CANARY_FAILED_ANNOTATION]: digest });
  if (steps.length > 0) await write.jsonPatch(machineSets, set, steps);
}

// Whether the canary is ready, still starting, failed, or has to wait for that of another MachineSet.

const MINUTE = 60_000;

/** How long the machine may take until its Node is Ready. Hosts boot several times, and check their hardware each time. */
export const selectTimeout = (platform: Platform): number => (platform === 'baremetal' ? 60 : 30) * MINUTE;

export interface CanaryFacts {
  /** The digest of the spec to try. */
  readonly wanted: string;
  /** The digest of the spec that failed before. */
  readonly failed: string | null;
  /** The desired replicas of the MachineSet. */
  readonly replicas: number;
  /** The MachineSet that has the canary's name. */
  readonly found: ObservedCanary | null;
  readonly others: OtherSets;
  readonly timeoutMs: number;
  readonly now: number;
}

export interface ObservedCanary {
  /** We created it, for this MachineSet. */
  readonly isOurs: boolean;
  /** The digest of the spec it tries. */
  readonly digest: string;
  readonly madeAt: number;
  readonly readyReplicas: number;
  readonly isGoing: boolean;
}

export interface OtherSets {
  /** No other MachineSet is next. */
  readonly isFirst: boolean;
  /** When the existing canaries of other MachineSets were created. */
  readonly canariesMadeAt: readonly number[];
}

export type CanaryStep =
  /** The set has no replicas: there is nothing to try, and a bad image breaks nothing. */
  | { readonly type: 'not needed' }
  | { readonly type: 'make' }
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'passed' }
  /** Remove it, and do not try the spec again. */
  | { readonly type: 'failed' }
  /** The spec failed before. */
  | { readonly type: 'refused' }
  /** It tries another spec: remove it first. */
  | { readonly type: 'outdated' }
  /** A MachineSet that is not our canary has the name. */
  | { readonly type: 'taken' };

export function nextCanaryStep(facts: CanaryFacts): CanaryStep {
  const { wanted, failed, replicas, found } = facts;
  if (found !== null) return nextObservedStep(found, facts);
  if (failed === wanted) return { type: 'refused' };
  if (replicas === 0) return { type: 'not needed' };
  const ms = untilTurn(facts);
  return ms === 0 ? { type: 'make' } : { type: 'wait', ms };
}

type TurnFacts = Pick<CanaryFacts, 'others' | 'timeoutMs' | 'now'>;

/**
 * How long to wait for the canaries of others, if nothing happens. A canary that is older than the time limit stops no
 * other: what keeps it, such as a finalizer, may keep it forever.
 */
function untilTurn({ others: { isFirst, canariesMadeAt }, timeoutMs, now }: TurnFacts): number {
  if (!isFirst) return timeoutMs;
  return Math.max(0, ...canariesMadeAt.map((madeAt) => madeAt + timeoutMs - now));
}

function nextObservedStep(found: ObservedCanary, { wanted, failed, timeoutMs, now }: CanaryFacts): CanaryStep {
  if (!found.isOurs) return { type: 'taken' };
  // Its removal triggers the next reconcile.
  if (found.isGoing) return { type: 'wait', ms: timeoutMs };
  if (failed === wanted) return { type: 'failed' };
  if (found.digest !== wanted) return { type: 'outdated' };
  if (found.readyReplicas > 0) return { type: 'passed' };
  const left = found.madeAt + timeoutMs - now;
  return left > 0 ? { type: 'wait', ms: left } : { type: 'failed' };
}
