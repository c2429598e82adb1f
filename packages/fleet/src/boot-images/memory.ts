// What a resource remembers of the boot image we gave it, as JSON in its annotation. Written in the same patch as the image,
// so that one change is one patch. Anybody may have written there: what is not whole is not used.
import { sha256 } from '@slipway/base/hash';
import { isRecord } from '@slipway/base/json';

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
export const rememberedText = (text: string): string => (text.length <= MAX_TEXT ? text : `sha256:${sha256(text)}`);

export const encodeMemory = ({ image, stub, times, optIn }: BootImageMemory): string =>
  JSON.stringify({
    image: rememberedText(image),
    stub: rememberedText(stub),
    times: times.slice(-MAX_TIMES),
    optIn,
  } satisfies BootImageMemory);

/** Null: there is none, or it is damaged. */
export function decodeMemory(text: string | undefined): BootImageMemory | null {
  if (text === undefined || text.length > MAX_ANNOTATION) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isMemory(value)) return null;
  // Only what is ours: the rest of somebody's object is not carried on.
  const { image, stub, times, optIn } = value;
  return { image, stub, times: times.slice(-MAX_TIMES), optIn };
}

function isMemory(value: unknown): value is BootImageMemory {
  if (!isRecord(value)) return false;
  const { image, stub, optIn, times } = value;
  const isText = [image, stub, optIn].every((each) => typeof each === 'string');
  return isText && Array.isArray(times) && times.every(isTime);
}

const isTime = (value: unknown): boolean => typeof value === 'string' && !Number.isNaN(Date.parse(value));
