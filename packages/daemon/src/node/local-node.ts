// The machine itself, whatever the cluster says: the config on its disk, what it remembers, and the updates of it.
import { posix } from 'node:path';
import {
  boolean,
  type Decoder,
  literal,
  nullable,
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
import type { FileSystem } from '../host/file-system.ts';
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
  /** What the disk is at; null: it was never told, or has forgotten. */
  current(): StoredConfig | null;
  memory(): NodeMemory;
  /** On the disk before it resolves; nothing is written where it is remembered already. */
  remember(memory: NodeMemory): Promise<void>;
  /** The machine is this config already: only its name is new. */
  adopt(config: StoredConfig): Promise<void>;
  verify(config: StoredConfig): Promise<Drift[]>;
  update(request: Omit<UpdateRequest, 'from'>): Promise<UpdateResult>;
  /** Ends what an earlier run was cut off in. */
  recover(): Promise<UpdateResult>;
}

export async function openLocalNode({ host, programVersion, onStep }: LocalNodeOptions): Promise<LocalNode> {
  const { files } = host;
  let current = await readCurrentConfig(files);
  let memory = await readMemory(files);
  const verify = (config: StoredConfig): Promise<Drift[]> => verifyMachine(host, config);
  const updater = createUpdater({ host, programVersion, onStep, verify });

  /** `target`: what the update led to, where it is in memory already. */
  async function settle(result: UpdateResult, target?: StoredConfig): Promise<UpdateResult> {
    const previous = current;
    if (result.outcome === 'new') current = target?.name === result.config ? target : await readCurrentConfig(files);
    if (current !== null && isSettled(result)) await refreshBaseline(previous, current);
    return result;
  }

  /** Also after a crash between the end of an update and its baseline. */
  async function refreshBaseline(previous: StoredConfig | null, config: StoredConfig): Promise<void> {
    if ((await readBaseline(files))?.config === config.name) return;
    await recordBaseline(host, previous?.name === config.name ? null : previous, config);
  }

  return {
    current: () => current,
    memory: () => memory,
    async remember(next) {
      if (JSON.stringify(next) === JSON.stringify(memory)) return;
      await writeMemory(files, next);
      memory = next;
    },
    async adopt(config) {
      const previous = current;
      await writeCurrentConfig(files, config);
      current = config;
      await refreshBaseline(previous, config);
    },
    verify,
    async update(request) {
      if (current === null) throw new Error('an update starts from a config');
      return settle(await updater.apply({ ...request, from: current }), request.to);
    },
    async recover() {
      return settle(await updater.recover());
    },
  };
}

const isSettled = ({ outcome }: UpdateResult): boolean => outcome === 'none' || outcome === 'new';

/** The little that a node has to know of its own past, beside its config. */
export interface NodeMemory {
  /** The current config that the Node object was last told of. */
  readonly reported?: string;
  /** A target that is not followed until there is another one. */
  readonly held?: string;
  /** The last target that could not be reached, if it still is the target. */
  readonly failed?: { readonly target: string; readonly problem: Problem };
  /** The update that is under way, so that it is told as the same one after a reboot. */
  readonly update?: UpdateScope;
  /** What the machine lacks of its config because users let it pass; and what it will, once the update is done. */
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

/** Field by field: what cannot be read of it is forgotten. */
const memoryFile = stateFileCodec<NodeMemory>({
  maxChars: MAX_BYTES,
  decoder: object({
    reported: optionalReadable(string()),
    held: optionalReadable(string()),
    failed: optionalReadable(object({ target: string(), problem: object({ code: string(), message: string() }) })),
    update: optionalReadable(
      object({ target: string(), postAction: string(), drain: flag, os: flag, image: flag, reboot: flag }),
    ),
    lacks: optionalReadable(readableItems(difference)),
    willLack: optionalReadable(readableItems(difference)),
  }),
});

/** What cannot be read is forgotten: the node then trusts its disk, and holds still where the cluster says otherwise. */
export async function readMemory(files: FileSystem): Promise<NodeMemory> {
  return (await readStateFile(files, PATH, memoryFile, MAX_BYTES).catch(() => null)) ?? {};
}

export async function writeMemory(files: FileSystem, memory: NodeMemory): Promise<void> {
  await writeStateFile(files, PATH, memoryFile.encode(memory));
}

/**
 * By a file that somebody with access to the machine makes: the next update goes ahead though the machine has
 * drifted.
 */
export async function isForced(files: FileSystem): Promise<boolean> {
  return (await files.lookAt(FORCE_FILE)) !== null;
}

/** Whether it was there. It counts once: it is gone, on the disk too, when this resolves. */
export async function takeForceFile(files: FileSystem): Promise<boolean> {
  if (!(await isForced(files))) return false;
  await files.remove(FORCE_FILE);
  await files.syncDirectory(posix.dirname(FORCE_FILE));
  return true;
}
