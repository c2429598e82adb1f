// What was on the machine when it reached its config: only what comes after that is drift.
import { isRecord } from '@slipway/base/json';
import { CORE, type DesiredMachine, desiredMachineOf } from '../desired-machine.ts';
import type { FileSystem } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';
import { STATE_DIRECTORY } from '../node-paths.ts';
import { writeStateFile } from '../state-file.ts';
import type { StoredConfig } from '../stored-config.ts';
import { findUnitExtras, lookForExtra } from './unit-extras.ts';

export interface Baseline {
  /** The config it was taken at. For another one it says nothing. */
  readonly config: string;
  /** Files of units that others put beside those of the config, before us. */
  readonly tolerated: readonly string[];
  /** Paths that earlier configs had, and where nothing was left. */
  readonly absent: readonly string[];
}

export const BASELINE = `${STATE_DIRECTORY}/baseline.json`;
const FORMAT = 1;
const MOST_BYTES = 1024 * 1024;
/** Of each list, so that both fit however long the paths are and whatever has to be escaped in them. */
const MOST_CHARACTERS = 64 * 1024;

/** To be called when the machine has reached a config. `previous` is the one it had before; null: none. */
export async function recordBaseline(host: Host, previous: StoredConfig | null, config: StoredConfig): Promise<void> {
  const desired = await desiredMachineOf(config);
  const earlier = await readBaseline(host.files);
  const left = previous === null ? [] : await pathsOf(host, await desiredMachineOf(previous));
  const kept = new Set(await pathsOf(host, desired));
  const gone = [...new Set([...left, ...(earlier?.absent ?? [])])].filter((path) => !kept.has(path));
  const baseline: Baseline = {
    config: config.name,
    tolerated: within(await findUnitExtras(host.files, desired)),
    absent: within(await absentAmong(host.files, gone)),
  };
  await writeStateFile(host.files, BASELINE, `${JSON.stringify({ format: FORMAT, ...baseline })}\n`);
}

/** Null: there is none that this program can read. */
export async function readBaseline(files: FileSystem): Promise<Baseline | null> {
  const found = await files.lookAt(BASELINE);
  if (found?.kind !== 'file' || found.size > MOST_BYTES) return null;
  return parse(new TextDecoder().decode(await files.read(BASELINE, MOST_BYTES)));
}

/** All but directories: others put their things there too, and one that is made again harms nothing. */
async function pathsOf(host: Host, { entries, core: { sshKeys } }: DesiredMachine): Promise<string[]> {
  const home = sshKeys === null ? undefined : await host.accounts.home(CORE);
  const keys = home === undefined || sshKeys === null ? [] : [`${home.path}/${sshKeys.paths[0]}`];
  const paths = [...entries.values()].filter(({ kind }) => kind !== 'directory').map(({ path }) => path);
  return [...paths, ...keys];
}

async function absentAmong(files: FileSystem, paths: readonly string[]): Promise<string[]> {
  const absent: string[] = [];
  for (const path of paths) {
    if ((await lookForExtra(files, path)) === null) absent.push(path);
  }
  return absent;
}

/** The first ones, which are the newest. */
function within(paths: readonly string[]): string[] {
  let room = MOST_CHARACTERS;
  return paths.filter((path) => (room -= path.length + 3) >= 0);
}

function parse(text: string): Baseline | null {
  const json = parseJson(text);
  if (!isRecord(json)) return null;
  const { format, config, tolerated, absent } = json;
  if (format !== FORMAT || typeof config !== 'string' || !isPaths(tolerated) || !isPaths(absent)) return null;
  return { config, tolerated, absent };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isPaths(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string' && each.startsWith('/'));
}
