// The progress of a node with its images. The message of a condition reports it, human-readable, and `slipway pin
// status` parses it. So formatter and parser are both here.
import { bytePattern, formatBytes, parseBytes } from '@slipway/base/text';

export interface SetProgress {
  readonly name: string;
  readonly images: Amount;
  /** Compressed, as transferred; null: unknown yet. */
  readonly bytes: Amount | null;
}

export interface Amount {
  readonly done: number;
  readonly total: number;
}

export interface PinProgress {
  readonly sets: readonly SetProgress[];
  /** Of all sets together: shared images count once. Null: unknown yet. */
  readonly bytes: Amount | null;
  /** Over about the last minute; null: nothing is being pulled, or unknown yet. */
  readonly bytesPerSecond: number | null;
  /** Null: unknown. */
  readonly secondsLeft: number | null;
  /** Human-readable: what it waits for (a slot, a Ready node, a registry); '' if nothing. */
  readonly waitsFor: string;
  /** The last error, with the image and a code; '' if none. */
  readonly lastError: string;
  /** Of the file system of the image store; null: unknown. */
  readonly store: { readonly free: number; readonly size: number } | null;
}

export const NO_PIN_PROGRESS: PinProgress = {
  sets: [],
  bytes: null,
  bytesPerSecond: null,
  secondsLeft: null,
  waitsFor: '',
  lastError: '',
  store: null,
};

/** A condition message has at most 32,768 characters; a hundred sets with the longest names leave enough for this. */
const MAX_WAIT = 300;
const MAX_ERROR = 1500;

/** Several lines; the first one is the summary. Bytes are rounded, and texts shortened to one line. */
export function formatPinProgress(progress: PinProgress): string {
  const { sets, bytes, bytesPerSecond, secondsLeft, store } = progress;
  const first = [
    sets.length === 1 ? '1 set' : `${sets.length} sets`,
    ...(bytes === null ? [] : [amountText(bytes)]),
    ...(bytesPerSecond === null ? [] : [`${formatBytes(bytesPerSecond)}/s`]),
    ...(secondsLeft === null ? [] : [`${durationText(secondsLeft)} left`]),
  ];
  return [
    first.join(', '),
    ...sets.map(setLine),
    ...textLine(labels.waitsFor, progress.waitsFor, MAX_WAIT),
    ...textLine(labels.lastError, progress.lastError, MAX_ERROR),
    ...(store === null ? [] : [`${labels.store}: ${formatBytes(store.free)} free of ${formatBytes(store.size)}`]),
  ].join('\n');
}

const labels = { waitsFor: 'Waits for', lastError: 'Last error', store: 'Image store' } as const;

function setLine({ name, images, bytes }: SetProgress): string {
  const counted = `- ${name}: ${images.done} of ${images.total} images`;
  return bytes === null ? counted : `${counted}, ${amountText(bytes)}`;
}

/** Rounded so that only a complete amount shows as complete. */
const amountText = ({ done, total }: Amount): string =>
  done >= total
    ? `${formatBytes(total, 'up')} of ${formatBytes(total, 'up')}`
    : `${formatBytes(done)} of ${formatBytes(total, 'up')}`;

function textLine(label: string, text: string, most: number): string[] {
  const line = oneLine(text);
  if (line === '') return [];
  return [
    `${label}: ${
      line.length <= most
        ? line
        : `${line
            .slice(0, most - 1)
            .toWellFormed()
            .trimEnd()}…`
    }`,
  ];
}

const oneLine = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();

function durationText(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  if (hours > 0) return `${hours}h${minutes}m${whole % 60}s`;
  return minutes > 0 ? `${minutes}m${whole % 60}s` : `${whole}s`;
}

const amountPattern = `(${bytePattern}) of (${bytePattern})`;
const durationPattern = String.raw`(?:(\d+)h)?(?:(\d+)m)?(\d+)s`;
const firstLine = new RegExp(
  String.raw`^(\d{1,3}) sets?(?:, ${amountPattern})?(?:, (${bytePattern})/s)?(?:, ${durationPattern} left)?$`,
);
const setPattern = new RegExp(
  String.raw`^- ([a-z0-9.-]{1,253}): (\d{1,6}) of (\d{1,6}) images(?:, ${amountPattern})?$`,
);
const storePattern = new RegExp(`^${labels.store}: (${bytePattern}) free of (${bytePattern})$`);
const MAX_MESSAGE = 32_768;

/** Null: not written by formatPinProgress. */
export function parsePinProgress(message: string): PinProgress | null {
  if (message.length > MAX_MESSAGE) return null;
  const [head = '', ...lines] = message.split('\n');
  const match = firstLine.exec(head);
  if (match === null) return null;
  const [, count, done, total, rate, hours, minutes, seconds] = match;
  const sets = lines.map(parseSetLine).filter((set) => set !== null);
  if (sets.length !== Number(count)) return null;
  return {
    sets,
    bytes: amountIn(done, total),
    bytesPerSecond: rate === undefined ? null : parseBytes(rate),
    secondsLeft: seconds === undefined ? null : Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds),
    waitsFor: textIn(lines, labels.waitsFor),
    lastError: textIn(lines, labels.lastError),
    store: storeIn(lines),
  };
}

function parseSetLine(line: string): SetProgress | null {
  const [, name, imagesDone, imagesTotal, done, total] = setPattern.exec(line) ?? [];
  if (name === undefined) return null;
  return {
    name,
    images: { done: Number(imagesDone), total: Number(imagesTotal) },
    bytes: amountIn(done, total),
  };
}

const amountIn = (done: string | undefined, total: string | undefined): Amount | null =>
  done === undefined || total === undefined ? null : { done: parseBytes(done), total: parseBytes(total) };

const textIn = (lines: readonly string[], label: string): string =>
  lines.find((line) => line.startsWith(`${label}: `))?.slice(label.length + 2) ?? '';

function storeIn(lines: readonly string[]): PinProgress['store'] {
  for (const line of lines) {
    const [, free, size] = storePattern.exec(line) ?? [];
    if (free !== undefined && size !== undefined) return { free: parseBytes(free), size: parseBytes(size) };
  }
  return null;
}
