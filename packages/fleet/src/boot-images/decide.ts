// The decision about the boot image of one resource: the controller executes it, and `slipway bootimages` shows it.
import { bootImageAdoptAnnotation, bootImageAnnotation } from '@slipway/api';
import type { JsonObject } from './json.ts';
import { annotationCodec, array, type Decoder, map, object, string, time } from '@slipway/base/codec';
import { sha256 } from '@slipway/base/hash';
import { streamImages } from './boot-image-config.ts';
import type { ClusterFacts, OptIn, ResourceFacts, StubReading } from './facts.ts';
import { findUnmetPrecondition, isElsewhere, type UpdatePrecondition } from './preconditions.ts';
import type { BootImageCode, ImageVerdict, ResourceVerdict } from './verdict.ts';

/** What to write, all in one patch. */
export interface Change {
  /** The whole spec with the new image; null: unchanged. */
  readonly spec: JsonObject | null;
  /** The Secret with user data to reference; null: unchanged. */
  readonly userData: string | null;
  /** For the annotation slipway.dev/boot-image. */
  readonly memory: string;
  /** The image for new machines, as the platform names it, and its version; '' if unknown. */
  readonly image: string;
  readonly version: string;
}

export interface Decision {
  readonly verdict: ResourceVerdict;
  /** Null: nothing to write. */
  readonly change: Change | null;
  /** The unmet precondition; null: all are met. */
  readonly gate: UpdatePrecondition | null;
  /** Version of the current image; null: unknown. */
  readonly version: string | null;
  /** A user-managed image that may be of an earlier release: a user can adopt it. */
  readonly isUnknown: boolean;
  /** What the user must import into the platform first, and how; null: nothing. */
  readonly toImport: ToImport | null;
}

export type ToImport = Pick<Extract<ImageVerdict, { readonly type: 'manual' }>, 'artifact' | 'commands'>;

/** Idempotent: once the change is applied, the next decision contains no change. */
export function decideResource(facts: ResourceFacts, cluster: ClusterFacts): Decision {
  const look = judgeResource(facts, cluster);
  const closed = findUnmetPrecondition(facts, cluster);
  return closed === null ? decideChange(facts, cluster, look) : unchanged(facts, look, closed);
}

/** The decision after its execution failed. */
export function failedDecision(decision: Decision, code: BootImageCode, why: string): Decision {
  return { ...decision, verdict: { ...decision.verdict, verdict: 'failed', why, code }, change: null };
}

/** The verdict if the image cannot be determined. */
const nothing = (code: BootImageCode, message: string): ImageVerdict => ({ type: 'failed', image: '', code, message });

/** Whether or not an update is allowed. */
function judgeResource(facts: ResourceFacts, cluster: ClusterFacts): ImageVerdict {
  const { machine } = facts;
  if (!machine.ok) return nothing(machine.code, machine.message);
  if (!machine.architecture.ok) return nothing('SLW_BOOT_IMAGES_ARCH', machine.architecture.message);
  // The precondition for the ConfigMap reports the reason.
  if (cluster.golden.type !== 'valid') return nothing('SLW_BOOT_IMAGES_INVALID', '');
  const { architecture } = machine.architecture;
  const found = streamImages(facts, cluster, cluster.golden.golden.config, architecture);
  if (!found.ok) return nothing(found.code, found.message);
  return machine.rule(machine.spec, {
    images: found.images,
    architecture,
    infrastructureName: cluster.infrastructureName,
    azureCloud: cluster.azureCloud,
    resource: facts.resource,
    isAdopted: facts.annotations[bootImageAdoptAnnotation] === 'true',
    knownImages: knownImages(facts, cluster),
  });
}

/** An image that we set is not user-managed, even if no ConfigMap contains it now. */
function knownImages(facts: ResourceFacts, { knownImages }: ClusterFacts): ReadonlySet<string> {
  const set = readMemory(facts)?.image;
  return set === undefined || knownImages.has(set) ? knownImages : new Set([...knownImages, set]);
}

const readMemory = ({ annotations }: ResourceFacts): BootImageMemory | null =>
  memoryCodec.decode(annotations[bootImageAnnotation]);

type GoodStub = Extract<StubReading, { ok: true }>;
type Usable = Exclude<ImageVerdict, { readonly type: 'failed' | 'theirs' }>;

function decideChange(facts: ResourceFacts, cluster: ClusterFacts, look: ImageVerdict): Decision {
  const { stub } = facts;
  if (look.type === 'failed') return failed(facts, look, look.code, look.message);
  // The user data is user-managed as well: only its owner knows what the image can read.
  if (look.type === 'theirs') return unchanged(facts, look, { verdict: 'theirs', why: look.why });
  if (!stub.ok) return failed(facts, look, 'SLW_BOOT_IMAGES_STUB', stub.message);
  const why = sentences(look.type === 'manual' ? manualWords(look) : '', stubWords(stub, look));
  const spec = look.type === 'change' ? look.spec : null;
  const userData = nextUserData(stub, look);
  if (spec === null && userData === null) {
    return unchanged(facts, look, { verdict: look.type === 'manual' ? 'manual' : 'current', why });
  }
  return changed(facts, cluster, { look, spec, userData, why });
}

interface DesiredChange {
  readonly look: Usable;
  readonly spec: JsonObject | null;
  readonly userData: string | null;
  readonly why: string;
}

function changed(
  facts: ResourceFacts,
  { optIn, now }: ClusterFacts,
  { look, spec, userData, why }: DesiredChange,
): Decision {
  const image = look.type === 'change' ? look.to : look.image;
  const value = { image, stub: userData ?? facts.stub.current };
  const step = hotLoopStep(readMemory(facts), value, { optIn, now });
  if (step.type === 'stop') return failed(facts, look, 'SLW_BOOT_IMAGES_HOT_LOOP', hotLoopWords(image, step.since));
  const version = look.type === 'manual' ? '' : look.version;
  const verdict = look.type === 'manual' ? 'manual' : 'update';
  const stub = { current: facts.stub.current, wanted: value.stub };
  return {
    ...unchanged(facts, look, { verdict, why, stub }),
    change: { spec, userData, memory: memoryCodec.encode(step.memory), image, version },
  };
}

/** Null: the reference stays. User data that the current image cannot read changes only together with the image. */
function nextUserData(stub: GoodStub, { type }: Usable): string | null {
  return stub.wanted === stub.current || (type === 'manual' && stub.needsNewImage) ? null : stub.wanted;
}

function stubWords(stub: GoodStub, look: Usable): string {
  const waits = stub.wanted !== stub.current && nextUserData(stub, look) === null;
  if (!waits) return stub.note;
  return `its user data must change to Secret ${stub.wanted} together with the image, because the current image may not be able to read it`;
}

const manualWords = ({ to, artifact }: Extract<ImageVerdict, { readonly type: 'manual' }>): string =>
  `import ${to === '' ? 'the boot image' : to} first: version ${artifact.version} from ${artifact.location}, sha256 ${artifact.sha256}`;

const hotLoopWords = (image: string, since: string): string =>
  `updates are stopped: Slipway set the image to ${image} ${hotLoop.times} times since ${since}, and another client reverted it each time. metadata.managedFields names the client. Stop that client or opt this resource out; to retry, change the opt-in, or remove the annotation ${bootImageAnnotation} from this resource and then from its BootImageHistory`;

const sentences = (...words: string[]): string => words.filter((each) => each !== '').join('. ');

interface VerdictDetail {
  readonly verdict: ResourceVerdict['verdict'];
  readonly why: string;
  readonly code?: BootImageCode | null;
  readonly gate?: UpdatePrecondition;
  readonly stub?: ResourceVerdict['stub'];
}

const failed = (facts: ResourceFacts, look: ImageVerdict, code: BootImageCode, why: string): Decision =>
  unchanged(facts, look, { verdict: 'failed', why, code });

function unchanged(facts: ResourceFacts, look: ImageVerdict, said: VerdictDetail): Decision {
  const { resource, machine, stub } = facts;
  return {
    verdict: {
      resource,
      platform: machine.platform,
      architecture: machine.ok && machine.architecture.ok ? machine.architecture.architecture : null,
      verdict: said.verdict,
      image: look.image,
      target: readTargetImage(look),
      stub: said.stub ?? { current: stub.current, wanted: stub.ok ? stub.wanted : stub.current },
      why: said.why,
      code: said.code ?? null,
    },
    change: null,
    gate: said.gate ?? null,
    version: look.type === 'current' ? look.version : null,
    isUnknown: look.type === 'theirs' && look.isUnknown && !isElsewhere(said.gate ?? null),
    toImport: look.type === 'manual' ? { artifact: look.artifact, commands: look.commands } : null,
  };
}

function readTargetImage(look: ImageVerdict): string {
  if (look.type === 'current') return look.image;
  return look.type === 'change' || look.type === 'manual' ? look.to : '';
}

// If another client keeps reverting a boot image, we report it and stop. Otherwise new machines would get varying
// images.

/** Stop after setting the same value `times` times within `withinMs`. */
export const hotLoop = { times: 3, withinMs: 60 * 60_000 } as const;

/** What to set. */
interface DesiredValue {
  readonly image: string;
  readonly stub: string;
}

type HotLoopStep =
  /** Set it, and store this memory with it. */
  | { readonly type: 'go'; readonly memory: BootImageMemory }
  /** We have set it the maximum number of times, first at `since`, and it is not set. */
  | { readonly type: 'stop'; readonly since: string };

/**
 * Called only if the resource does not have the desired value. A value that we set three times within the hour and that
 * is gone was reverted each time. Updates stay stopped until another image is desired, the opt-in in
 * MachineConfiguration changes, or a user removes the memory.
 */
export function hotLoopStep(
  memory: BootImageMemory | null,
  wanted: DesiredValue,
  { optIn, now }: { readonly optIn: OptIn | null; readonly now: number },
): HotLoopStep {
  const mark = optInMark(optIn);
  const [image, stub] = [rememberedText(wanted.image), rememberedText(wanted.stub)];
  const isSame = memory?.image === image && memory.stub === stub && memory.optIn === mark;
  const times = isSame ? memory.times.slice(-hotLoop.times) : [];
  const [since] = times;
  if (since !== undefined && isHot(times)) return { type: 'stop', since };
  const next = [...times, new Date(now).toISOString()].slice(-hotLoop.times);
  return { type: 'go', memory: { image, stub, times: next, optIn: mark } };
}

/** Also right if the clock was set back in between. */
function isHot(times: readonly string[]): boolean {
  const at = times.map((time) => Date.parse(time));
  return at.length >= hotLoop.times && Math.max(...at) - Math.min(...at) <= hotLoop.withinMs;
}

/** The generation, not the content: to opt out and in again means to start over. */
const optInMark = (optIn: OptIn | null): string => (optIn === null ? '' : `${optIn.generation}@${optIn.uid}`);

// The boot image that we last set on a resource, as JSON in its annotation. Written in the same patch as the image, and
// then to its BootImageHistory. Any client can write there: incomplete data is ignored.

export interface BootImageMemory {
  /** The image that we set last, as the platform names it. */
  readonly image: string;
  /** The Secret with user data that we set with it. */
  readonly stub: string;
  /** When we set these two; newest last. */
  readonly times: readonly string[];
  /** The opt-in at that time. */
  readonly optIn: string;
}

const MAX_TEXT = 1024;
const MAX_TIMES = 10;
const MAX_ANNOTATION = 4096;

/** A text that is too long is stored as its digest. */
const rememberedText = (text: string): string => (text.length <= MAX_TEXT ? text : `sha256:${sha256(text)}`);

const memoryDecoder: Decoder<BootImageMemory> = object({
  image: string(),
  stub: string(),
  times: map(array(time), (times) => times.slice(-MAX_TIMES)),
  optIn: string(),
});

/**
 * The facts with the newer of two memories: a client that replaces the whole resource removes the annotation together
 * with the image, but not the copy in its BootImageHistory. `history`: the annotations of that.
 */
export function withNewestMemory(
  facts: ResourceFacts,
  history: Readonly<Record<string, string>> | undefined,
): ResourceFacts {
  const copy = history?.[bootImageAnnotation];
  const isNewer = newestTime(memoryCodec.decode(copy)) > newestTime(readMemory(facts));
  return copy === undefined || !isNewer
    ? facts
    : { ...facts, annotations: { ...facts.annotations, [bootImageAnnotation]: copy } };
}

const newestTime = (memory: BootImageMemory | null): number =>
  Math.max(-Infinity, ...(memory?.times ?? []).map((time) => Date.parse(time)));

/** Null: missing or invalid. */
export const memoryCodec = annotationCodec({
  decoder: memoryDecoder,
  maxChars: MAX_ANNOTATION,
  missing: null,
  unreadable: null,
  toJson: ({ image, stub, times, optIn }) => ({
    image: rememberedText(image),
    stub: rememberedText(stub),
    times: times.slice(-MAX_TIMES),
    optIn,
  }),
});
