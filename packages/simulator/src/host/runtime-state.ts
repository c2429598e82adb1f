// The contents and the behaviour of a simulated container runtime: two files of its machine, so that tests and users
// can change both while the daemon runs.
import { posix } from 'node:path';
import {
  array,
  boolean,
  decode,
  type Decoder,
  map,
  number,
  object,
  orNull,
  record,
  refine,
  string,
  withDefault,
} from '@slipway/base/codec';
import { isRecord } from '@slipway/base/json';
import { DaemonError } from '@slipway/daemon';
import { type FileSystem, makeDirectories, type Owners, ownOwners, readText, replaceFile } from '@slipway/daemon/host';
import { parse } from 'smol-toml';

export interface RuntimeBehaviour {
  /** The rate of every pull. Null: pulls are instant. */
  readonly bytesPerSecond: number | null;
  /** The size of the disk that stores images. */
  readonly storeBytes: number;
  /** It does not respond. */
  readonly isDown: boolean;
  /** Error messages for pulls, by a part of the image's name. */
  readonly refused: Readonly<Record<string, string>>;
}

const runtimeBehaviour: Decoder<RuntimeBehaviour> = object({
  bytesPerSecond: orNull(refine(number(), (rate) => rate > 0, 'more than 0')),
  storeBytes: withDefault(number(), 120e9),
  isDown: withDefault(boolean, false),
  refused: withDefault(map(record(string()), Object.fromEntries<string>), {}),
});
const DEFAULT_BEHAVIOUR: RuntimeBehaviour = runtimeBehaviour({}, '');
const imageNames: Decoder<readonly string[]> = array(string());

const BEHAVIOUR = '/var/lib/slipway-simulated/container-runtime.json';
const IMAGES = '/var/lib/slipway-simulated/images.json';
/** Gone after a reboot: a runtime reads its configuration when it starts. */
const PINNED = '/run/slipway-simulated/pinned-images.json';
const MAX_STATE_BYTES = 8 * 1024 * 1024;

export const readBehaviour = async (files: FileSystem): Promise<RuntimeBehaviour> =>
  (await readJson(files, BEHAVIOUR, runtimeBehaviour)) ?? DEFAULT_BEHAVIOUR;

/** Fields that are left out get their defaults. */
export const setRuntimeBehaviour = (files: FileSystem, behaviour: Partial<RuntimeBehaviour>): Promise<void> =>
  writeJson(files, ownOwners(), BEHAVIOUR, behaviour);

/** Sorted by name. */
export const readImages = async (files: FileSystem): Promise<readonly string[]> =>
  (await readJson(files, IMAGES, imageNames)) ?? [];
export const writeImages = (files: FileSystem, owners: Owners, images: readonly string[]): Promise<void> =>
  writeJson(files, owners, IMAGES, images);

/** Names, or prefixes with a `*`. Undefined: the runtime was not used since the machine booted. */
export const readPinned = (files: FileSystem): Promise<readonly string[] | undefined> =>
  readJson(files, PINNED, imageNames);
export const writePinned = (files: FileSystem, owners: Owners, pinned: readonly string[]): Promise<void> =>
  writeJson(files, owners, PINNED, pinned);

async function readJson<T>(files: FileSystem, path: string, decoder: Decoder<T>): Promise<T | undefined> {
  const text = await readText(files, path, MAX_STATE_BYTES);
  if (text === undefined) return undefined;
  const found = decode(decoder, text, { maxChars: MAX_STATE_BYTES });
  if (!found.ok) throw unreadable(path);
  return found.value;
}

async function writeJson(files: FileSystem, owners: Owners, path: string, value: unknown): Promise<void> {
  await makeDirectories(files, posix.dirname(path), owners);
  const bytes = Buffer.from(`${JSON.stringify(value, undefined, 1)}\n`);
  // Without a sync: a real runtime may also lose its last image in a power cut, and the daemon pulls it again.
  await replaceFile(files, path, { ...owners, bytes, mode: 0o644 }, { sync: false });
}

function unreadable(path: string): DaemonError {
  return new DaemonError(
    'SLW_DAEMON_HOST',
    `${path} of the simulated machine cannot be parsed: expected the JSON that Slipway writes there. Remove the file.`,
  );
}

// The images that CRI-O's configuration pins, read as CRI-O does.

const DIRECTORY = '/etc/crio/crio.conf.d';
const MAIN = '/etc/crio/crio.conf';
const MAX_CONFIG_BYTES = 1024 * 1024;

/** Only the last file with the setting counts. Null: a file is not valid TOML, and CRI-O keeps its current pins. */
export async function readConfiguredPins(files: FileSystem): Promise<readonly string[] | null> {
  const names = await files.list(DIRECTORY);
  let pins: readonly string[] = [];
  for (const path of [MAIN, ...names.map((name) => `${DIRECTORY}/${name}`)]) {
    const text = await readText(files, path, MAX_CONFIG_BYTES);
    const found = text === undefined ? undefined : parsePins(text);
    if (found === null) return null;
    pins = found ?? pins;
  }
  return pins;
}

/** A `*` at the end matches any suffix. */
export const isPinnedBy = (pins: readonly string[], image: string): boolean =>
  pins.some((pin) => (pin.endsWith('*') ? image.startsWith(pin.slice(0, -1)) : image === pin));

/** Undefined: the file does not set pins. */
function parsePins(text: string): readonly string[] | undefined | null {
  let table: unknown;
  try {
    table = parse(text);
  } catch {
    return null;
  }
  const pins = fieldOf(fieldOf(fieldOf(table, 'crio'), 'image'), 'pinned_images');
  if (pins === undefined) return undefined;
  return Array.isArray(pins) && pins.every((pin) => typeof pin === 'string') ? pins : null;
}

const fieldOf = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined);
