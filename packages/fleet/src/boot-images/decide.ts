// What becomes of the boot image of one resource: the one decision that the controller carries out and the command shows.
import { bootImageAdoptAnnotation, bootImageAnnotation } from '@slipway/api';
import type { JsonObject } from './json.ts';
import { annotationCodec, array, type Decoder, map, object, string, time } from '@slipway/base/codec';
import { sha256 } from '@slipway/base/hash';
import { streamImages } from './boot-image-config.ts';
import type { ClusterFacts, OptIn, ResourceFacts, StubReading } from './facts.ts';
import { findUnmetPrecondition, type UpdatePrecondition } from './preconditions.ts';
import type { BootImageCode, ImageVerdict, ResourceVerdict } from './verdict.ts';

/** What is to be written, all in one patch. */
export interface Change {
  /** The whole spec with the new image; null: it stays as it is. */
  readonly spec: JsonObject | null;
  /** The Secret with user data to refer to; null: the reference stays. */
  readonly userData: string | null;
  /** For the annotation slipway.dev/boot-image. */
  readonly memory: string;
  /** The image that machines get from now on, as the platform names it, and its version; '' where it is not known. */
  readonly image: string;
  readonly version: string;
}

export interface Decision {
  readonly verdict: ResourceVerdict;
  /** Null: nothing is to be written. */
  readonly change: Change | null;
  /** Which gate keeps it; null: none. */
  readonly gate: UpdatePrecondition | null;
  /** Of the image that it has now; null: not known. */
  readonly version: string | null;
  /** What somebody must bring to the platform first, and how; null: nothing. */
  readonly toImport: ToImport | null;
}

export type ToImport = Pick<Extract<ImageVerdict, { readonly type: 'manual' }>, 'artifact' | 'commands'>;

/** The design calls it patchBootImage: with the answer carried out, the same question has no change left. */
export function decideResource(facts: ResourceFacts, cluster: ClusterFacts): Decision {
  const look = judgeResource(facts, cluster);
  const closed = findUnmetPrecondition(facts, cluster);
  return closed === null ? decideChange(facts, cluster, look) : unchanged(facts, look, closed);
}

/** The same with something gone wrong while it was carried out. */
export function failedDecision(decision: Decision, code: BootImageCode, why: string): Decision {
  return { ...decision, verdict: { ...decision.verdict, verdict: 'failed', why, code }, change: null };
}

/** Nothing can be said of an image that cannot be looked at. */
const nothing = (code: BootImageCode, message: string): ImageVerdict => ({ type: 'failed', image: '', code, message });

/** Whether or not something may be done about it. */
function judgeResource(facts: ResourceFacts, cluster: ClusterFacts): ImageVerdict {
  const { machine } = facts;
  if (!machine.ok) return nothing(machine.code, machine.message);
  if (!machine.architecture.ok) return nothing('SLW_BOOT_IMAGES_ARCH', machine.architecture.message);
  // A gate is closed then, and says what is wrong with it.
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

/** What we set ourselves is not the owner's own, even when no ConfigMap has it any more. */
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
  // Its user data is the owner's business as well: only they know what their image can read.
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

/** Null: the reference stays. What the image of today cannot read may only come with a new one. */
function nextUserData(stub: GoodStub, { type }: Usable): string | null {
  return stub.wanted === stub.current || (type === 'manual' && stub.needsNewImage) ? null : stub.wanted;
}

function stubWords(stub: GoodStub, look: Usable): string {
  const waits = stub.wanted !== stub.current && nextUserData(stub, look) === null;
  if (!waits) return stub.note;
  return `its user data must become Secret ${stub.wanted} together with the image: the image of today may not be able to read it`;
}

const manualWords = ({ to, artifact }: Extract<ImageVerdict, { readonly type: 'manual' }>): string =>
  `somebody must first import ${to === '' ? 'the boot image' : to} of version ${artifact.version} from ${artifact.location} with sha256 ${artifact.sha256}`;

const hotLoopWords = (image: string, since: string): string =>
  `set to ${image} ${hotLoop.times} times since ${since}, and somebody changed it back each time: it is left as it is. metadata.managedFields tells who. Opt it out or stop the other one; then change the opt-in, or remove the annotation ${bootImageAnnotation}`;

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
    toImport: look.type === 'manual' ? { artifact: look.artifact, commands: look.commands } : null,
  };
}

function readTargetImage(look: ImageVerdict): string {
  if (look.type === 'current') return look.image;
  return look.type === 'change' || look.type === 'manual' ? look.to : '';
}

// Somebody keeps changing a boot image back: we say so and stop, instead of making machines now of this kind, now of that.

/** How often the same value is set within the time, before it is left to the other one. */
export const hotLoop = { times: 3, withinMs: 60 * 60_000 } as const;

/** What is to be set. */
interface DesiredValue {
  readonly image: string;
  readonly stub: string;
}

type HotLoopStep =
  /** Set it, and remember this with it. */
  | { readonly type: 'go'; readonly memory: BootImageMemory }
  /** We set it as often as may be, first at `since`, and it is not there. */
  | { readonly type: 'stop'; readonly since: string };

/**
 * Asked only when the resource does not have what it shall have. What we have set three times within the hour and is gone was
 * changed back each time. It stays stopped, however long, until another image is wanted, MachineConfiguration says something
 * else, or a person takes our annotation away.
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

/** Whichever way the clock has gone meanwhile. */
function isHot(times: readonly string[]): boolean {
  const at = times.map((time) => Date.parse(time));
  return at.length >= hotLoop.times && Math.max(...at) - Math.min(...at) <= hotLoop.withinMs;
}

/** The generation and not the content: who opts out, mends and opts in again means a new beginning. */
const optInMark = (optIn: OptIn | null): string => (optIn === null ? '' : `${optIn.generation}@${optIn.uid}`);

// What a resource remembers of the boot image we gave it, as JSON in its annotation. Written in the same patch as the image,
// so that one change is one patch. Anybody may have written there: what is not whole is not used.

export interface BootImageMemory {
  /** The image that we set last, as the platform names it. */
  readonly image: string;
  /** The Secret with user data that we set with it. */
  readonly stub: string;
  /** When we set these two, the last times, newest last. */
  readonly times: readonly string[];
  /** The opt-in that it was set under. */
  readonly optIn: string;
}

const MAX_TEXT = 1024;
const MAX_TIMES = 10;
const MAX_ANNOTATION = 4096;

/** A text that has no room is known by its digest. */
const rememberedText = (text: string): string => (text.length <= MAX_TEXT ? text : `sha256:${sha256(text)}`);

const memoryDecoder: Decoder<BootImageMemory> = object({
  image: string(),
  stub: string(),
  times: map(array(time), (times) => times.slice(-MAX_TIMES)),
  optIn: string(),
});

/** Null: there is none, or it is damaged. */
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
