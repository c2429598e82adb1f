// One machine with a new image, made before a MachineSet gets it: a copy of the set with one replica. All that is to be
// remembered is on the two sets.
import { bootImageCanaryLabel, type MachineSet, machineSets } from '@slipway/api';
import { sha256 } from '@slipway/base/hash';
import { canonicalJson } from '@slipway/fleet';
import { annotationSteps, type JsonObject } from '@slipway/fleet/boot-images';
import type { Context, Stored } from '@slipway/kube';

/** On a canary: a digest of the spec that it tries. On a MachineSet: of the spec whose canary has failed; removed, it is tried again. */
const TRIES_ANNOTATION = 'slipway.dev/boot-image-canary-tries';
const CANARY_FAILED_ANNOTATION = 'slipway.dev/boot-image-canary-failed';
const SET_LABEL = 'machine.openshift.io/cluster-api-machineset';
/** Names of sets become values of labels. */
const MAX_NAME_LENGTH = 63;

type Machines = Stored<MachineSet>;

export type CanaryDecision =
  | { readonly type: 'go' }
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'failed'; readonly why: string };

/** Whether the set may get this provider spec. */
export async function tryCanary(set: Machines, providerSpec: JsonObject, context: Context): Promise<CanaryDecision> {
  const wanted = computeSpecDigest(providerSpec);
  const found = findCanary(set, context);
  const step = nextCanaryStep(readCanaryFacts(set, found, wanted, context.now().getTime()));
  if (step.type === 'make') await createCanary(set, providerSpec, context);
  if (step.type === 'failed') await recordFailure(set, wanted, context);
  if ((step.type === 'failed' || step.type === 'outdated') && found !== undefined)
    await context.write.remove(machineSets, found);
  return toCanaryDecision(step, formatCanaryName(set.metadata.name));
}

const readCanaryFacts = (set: Machines, found: Machines | undefined, wanted: string, now: number): CanaryFacts => ({
  wanted,
  failed: set.metadata.annotations?.[CANARY_FAILED_ANNOTATION] ?? null,
  replicas: set.spec?.replicas ?? 1,
  found: found === undefined ? null : toObservedCanary(found, set),
  now,
});

/** What is left of a canary whose set needs none any more. */
export async function removeCanary(set: Machines, context: Context): Promise<void> {
  const found = findCanary(set, context);
  const isLeft = found !== undefined && isOurs(found, set) && found.metadata.deletionTimestamp === undefined;
  if (isLeft) await context.write.remove(machineSets, found);
}

function toCanaryDecision(step: CanaryStep, name: string): CanaryDecision {
  switch (step.type) {
    case 'not needed':
    case 'passed':
      return { type: 'go' };
    case 'make':
    case 'outdated':
      // What becomes of it wakes us.
      return { type: 'wait', ms: CANARY_MS };
    case 'wait':
      return { type: 'wait', ms: step.ms };
    case 'taken':
      return {
        type: 'failed',
        why: `expected to make MachineSet ${name} to try the new image, found another one of that name. Give that one another name`,
      };
    default:
      return {
        type: 'failed',
        why: `the new image was tried with MachineSet ${name}, and no machine of it became ready within ${CANARY_MS / 60_000} minutes: it stays at the old one. See why, then remove the annotation ${CANARY_FAILED_ANNOTATION} to try again`,
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
  madeAt: Date.parse(found.metadata.creationTimestamp ?? ''),
  readyReplicas: found.status?.readyReplicas ?? 0,
  isGoing: found.metadata.deletionTimestamp !== undefined,
});

const computeSpecDigest = (spec: JsonObject): string => sha256(canonicalJson(spec)).slice(0, 32);

/** Where our cache is behind, it is there already, and brings the set back here. */
async function createCanary(set: Machines, providerSpec: JsonObject, { write, log }: Context): Promise<void> {
  const canary = buildCanary(set, providerSpec);
  if ((await write.createIfAbsent(machineSets, canary)) !== undefined)
    log.info({ canary: canary.metadata.name }, 'made a canary: one machine with the new boot image');
}

/** Nothing of its annotations: an autoscaler would take them as for it. With a selector of its own: it must not count the set's machines. */
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
      labels: { ...metadata.labels, [bootImageCanaryLabel]: 'true' },
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

// One machine of the new image before all others: whether it has come up, is still awaited, or has failed.

/** How long the machine may take from nothing to a ready Node. */
export const CANARY_MS = 30 * 60_000;

export interface CanaryFacts {
  /** A digest of the spec that is to be tried. */
  readonly wanted: string;
  /** The spec that has failed before, by its digest. */
  readonly failed: string | null;
  /** How many machines the MachineSet has to have. */
  readonly replicas: number;
  /** What has the name of the canary. */
  readonly found: ObservedCanary | null;
  readonly now: number;
}

export interface ObservedCanary {
  /** It was made by us, for this MachineSet. */
  readonly isOurs: boolean;
  /** Of the spec that it tries. */
  readonly digest: string;
  readonly madeAt: number;
  readonly readyReplicas: number;
  readonly isGoing: boolean;
}

export type CanaryStep =
  /** Nobody asks for machines: there is nothing to try, and nobody to be hurt. */
  | { readonly type: 'not needed' }
  | { readonly type: 'make' }
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'passed' }
  /** It is to be removed, and the spec not to be tried again. */
  | { readonly type: 'failed' }
  /** It has failed before. */
  | { readonly type: 'refused' }
  /** It tries another spec: it is to be removed first. */
  | { readonly type: 'outdated' }
  /** Something else has its name. */
  | { readonly type: 'taken' };

export function nextCanaryStep(facts: CanaryFacts): CanaryStep {
  const { wanted, failed, replicas, found } = facts;
  if (found !== null) return nextObservedStep(found, facts);
  if (failed === wanted) return { type: 'refused' };
  return { type: replicas > 0 ? 'make' : 'not needed' };
}

function nextObservedStep(found: ObservedCanary, { wanted, failed, now }: CanaryFacts): CanaryStep {
  if (!found.isOurs) return { type: 'taken' };
  // Its removal wakes us.
  if (found.isGoing) return { type: 'wait', ms: CANARY_MS };
  if (failed === wanted) return { type: 'failed' };
  if (found.digest !== wanted) return { type: 'outdated' };
  if (found.readyReplicas > 0) return { type: 'passed' };
  const left = found.madeAt + CANARY_MS - now;
  return left > 0 ? { type: 'wait', ms: left } : { type: 'failed' };
}
