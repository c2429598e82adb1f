// The machine without the cluster: the config on its disk, what it remembers, and its updates.
import { posix } from 'node:path';
import {
  boolean,
  type Decoder,
  literal,
  nullable,
  number,
  object,
  optionalReadable,
  readableItems,
  stateFileCodec,
  string,
  withFallback,
} from '@slipway/base/codec';
import type { Irreconcilable } from '@slipway/fleet';
import { createUpdater, type UpdateRequest, type UpdateResult, type UpdateStep } from '../apply/updater.ts';
import { readBaseline, recordBaseline } from '../drift/baseline.ts';
import type { Drift } from '../drift/drift.ts';
import { verifyMachine } from '../drift/verify-machine.ts';
import { type FileSystem, systemErrorCode } from '../host/file-system.ts';
import type { Host } from '../host/host.ts';
import type { Problem } from '../problem.ts';
import type { UpdateScope } from '../report/snapshot.ts';
import { FORCE_FILE, readStateFile, STATE_DIRECTORY, writeStateFile } from '../state-file.ts';
import { readCurrentConfig, type StoredConfig, writeCurrentConfig } from '../stored-config.ts';

export interface LocalNodeOptions {
  readonly host: Host;
  readonly programVersion: string;
  readonly onStep: (step: UpdateStep) => void | Promise<void>;
}

export interface LocalNode {
  /** The config that the disk is at. Null: it never had one, or the file was lost. */
  current(): StoredConfig | null;
  memory(): NodeMemory;
  /** Resolves when it is on the disk. Writes nothing if nothing changed. If the disk refuses it, it counts anyway. */
  remember(memory: NodeMemory): Promise<void>;
  /** Repeats the writes that the disk refused. Rejects while it still does. */
  saveRest(): Promise<void>;
  /** The machine already matches this config: only the name is new. */
  adopt(config: StoredConfig): Promise<void>;
  verify(config: StoredConfig): Promise<Drift[]>;
  update(request: Omit<UpdateRequest, 'from'>): Promise<UpdateResult>;
  /** Finishes an interrupted update. */
  recover(): Promise<UpdateResult>;
}

export async function openLocalNode({ host, programVersion, onStep }: LocalNodeOptions): Promise<LocalNode> {
  const { files } = host;
  let current = await readCurrentConfig(files);
  let memory = await readMemory(files);
  /** What the disk refused, and how to write it. */
  const unsaved = new Map<'memory' | 'baseline', () => Promise<void>>();
  const verify = (config: StoredConfig): Promise<Drift[]> => verifyMachine(host, config);
  const updater = createUpdater({ host, programVersion, onStep, verify });

  /** `target`: the config that the update led to, if it is in memory. */
  async function settle(result: UpdateResult, target?: StoredConfig): Promise<UpdateResult> {
    const previous = current;
    if (result.outcome === 'new') current = target?.name === result.config ? target : await readCurrentConfig(files);
    if (current !== null && isSettled(result)) await refreshBaseline(previous, current);
    return result;
  }

  /**
   * Also after a crash between the end of an update and the write of its baseline. The machine is at its config whether
   * or not the disk accepts the baseline, which is then written later.
   */
  async function refreshBaseline(previous: StoredConfig | null, config: StoredConfig): Promise<void> {
    try {
      await save('baseline', async () => {
        if ((await readBaseline(files))?.config === config.name) return;
        await recordBaseline(host, previous?.name === config.name ? null : previous, config);
      });
    } catch (error) {
      if (systemErrorCode(error) === undefined) throw error;
    }
  }

  async function save(what: 'memory' | 'baseline', write: () => Promise<void>): Promise<void> {
    unsaved.set(what, write);
    await write();
    unsaved.delete(what);
  }

  return {
    current: () => current,
    memory: () => memory,
    async remember(next) {
      if (JSON.stringify(next) === JSON.stringify(memory)) return;
      memory = next;
      await save('memory', () => writeMemory(files, memory));
    },
    async saveRest() {
      for (const [what, write] of unsaved) await save(what, write);
    },
    async adopt(config) {
      const previous = current;
      await writeCurrentConfig(files, config);
      current = config;
      await refreshBaseline(previous, config);
    },
    verify,
    async update(request) {
      if (current === null) throw new Error('an update needs a current config');
      return settle(await updater.apply({ ...request, from: current }), request.to);
    },
    async recover() {
      return settle(await updater.recover());
    },
  };
}

const isSettled = ({ outcome }: UpdateResult): boolean => outcome === 'none' || outcome === 'new';

/** What a node must remember in addition to its config. */
export interface NodeMemory {
  /** The current config that was last written to the Node object. */
  readonly reported?: string;
  /** A target that the node ignores until it is assigned another one. */
  readonly held?: string;
  /**
   * The last target that could not be reached, while it is still the target. `tries`: for a temporary reason, this many
   * times; it is retried.
   */
  readonly failed?: { readonly target: string; readonly problem: Problem; readonly tries?: number };
  /** The update in progress, so that it is reported as the same one after a reboot. */
  readonly update?: UpdateScope;
  /** What the machine lacks of its config because users tolerate it, and what it will lack after the update. */
  readonly lacks?: readonly Irreconcilable[];
  readonly willLack?: readonly Irreconcilable[];
}

const PATH = `${STATE_DIRECTORY}/daemon.json`;
const MAX_BYTES = 64 * 1024;

const IRRECONCILABLE = 'SLW_UPDATE_IRRECONCILABLE' as const;
const difference: Decoder<Irreconcilable> = object({
  code: withFallback(literal(IRRECONCILABLE), IRRECONCILABLE),
  field: string(),
  before: nullable(string()),
  after: nullable(string()),
  message: string(),
});

const flag = withFallback(boolean, false);

/** Decoded field by field: an unreadable field is dropped. */
const memoryFile = stateFileCodec<NodeMemory>({
  maxChars: MAX_BYTES,
  decoder: object({
    reported: optionalReadable(string()),
    held: optionalReadable(string()),
    failed: optionalReadable(
      object({
        target: string(),
        problem: object({ code: string(), message: string() }),
        tries: optionalReadable(number()),
      }),
    ),
    update: optionalReadable(
      object({ target: string(), postAction: string(), drain: flag, os: flag, image: flag, reboot: flag }),
    ),
    lacks: optionalReadable(readableItems(difference)),
    willLack: optionalReadable(readableItems(difference)),
  }),
});

/** Unreadable state is dropped. The node then trusts its disk, and holds if the cluster disagrees. */
export async function readMemory(files: FileSystem): Promise<NodeMemory> {
  return (await readStateFile(files, PATH, memoryFile, MAX_BYTES).catch(() => null)) ?? {};
}

export async function writeMemory(files: FileSystem, memory: NodeMemory): Promise<void> {
  await writeStateFile(files, PATH, memoryFile.encode(memory));
}

/**
 * The file of an administrator with access to the machine: the next update proceeds although the machine has drifted.
 */
export async function isForced(files: FileSystem): Promise<boolean> {
  return (await files.lookAt(FORCE_FILE)) !== null;
}

/** Returns whether the file was there. It counts once: when this resolves, it is gone from the disk too. */
export async function takeForceFile(files: FileSystem): Promise<boolean> {
  if (!(await isForced(files))) return false;
  await files.remove(FORCE_FILE);
  await files.syncDirectory(posix.dirname(FORCE_FILE));
  return true;
}
