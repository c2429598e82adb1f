// The little that a node has to know of its own past, beside its config.
import { isRecord } from '@slipway/base/json';
import type { Irreconcilable } from '@slipway/fleet';
import type { FileSystem } from './host/file-system.ts';
import { STATE_DIRECTORY } from './node-paths.ts';
import type { Problem } from './problem.ts';
import type { UpdateScope } from './report/snapshot.ts';
import { writeStateFile } from './state-file.ts';

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

/** What cannot be read is forgotten: the node then trusts its disk, and holds still where the cluster says otherwise. */
export async function readMemory(files: FileSystem): Promise<NodeMemory> {
  if ((await files.lookAt(PATH)) === null) return {};
  try {
    return parse(JSON.parse(new TextDecoder().decode(await files.read(PATH, MAX_BYTES))));
  } catch {
    return {};
  }
}

export async function writeMemory(files: FileSystem, memory: NodeMemory): Promise<void> {
  await writeStateFile(files, PATH, JSON.stringify(memory));
}

function parse(json: unknown): NodeMemory {
  if (!isRecord(json)) return {};
  const { reported, held, failed, update, lacks, willLack } = json;
  return {
    ...(typeof reported === 'string' && { reported }),
    ...(typeof held === 'string' && { held }),
    ...parseFailed(failed),
    ...parseUpdate(update),
    ...(Array.isArray(lacks) && { lacks: lacks.filter(isDifference) }),
    ...(Array.isArray(willLack) && { willLack: willLack.filter(isDifference) }),
  };
}

function parseFailed(failed: unknown): Pick<NodeMemory, 'failed'> {
  if (!isRecord(failed) || typeof failed['target'] !== 'string' || !isRecord(failed['problem'])) return {};
  const { code, message } = failed['problem'];
  if (typeof code !== 'string' || typeof message !== 'string') return {};
  return { failed: { target: failed['target'], problem: { code, message } } };
}

function parseUpdate(update: unknown): Pick<NodeMemory, 'update'> {
  if (!isRecord(update)) return {};
  const { target, drain, os, image, reboot, postAction } = update;
  if (typeof target !== 'string' || typeof postAction !== 'string') return {};
  const [drains, ofOs, hasImage, reboots] = [drain, os, image, reboot].map((flag) => flag === true);
  return {
    update: {
      target,
      postAction,
      drain: drains ?? false,
      os: ofOs ?? false,
      image: hasImage ?? false,
      reboot: reboots ?? false,
    },
  };
}

function isDifference(value: unknown): value is Irreconcilable {
  if (!isRecord(value)) return false;
  const isShown = (shown: unknown) => shown === null || typeof shown === 'string';
  return (
    typeof value['field'] === 'string' &&
    typeof value['message'] === 'string' &&
    [value['before'], value['after']].every(isShown)
  );
}
