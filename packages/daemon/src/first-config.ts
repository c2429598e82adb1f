// Which config a machine has whose disk does not say: what its first boot wrote down for its Node.
import { nodeAnnotations } from '@slipway/api/names';
import { DaemonError } from './errors.ts';
import type { FileSystem } from './host/file-system.ts';
import { CURRENT_CONFIG, NODE_ANNOTATIONS } from './node-paths.ts';

const MAX_BYTES = 64 * 1024;

/** Rejects with a DaemonError where nothing is written down. */
export async function firstConfigName(files: FileSystem): Promise<string> {
  const name = await writtenName(files);
  if (name !== null) return name;
  throw new DaemonError(
    'SLW_DAEMON_NO_CONFIG',
    `this machine does not know which config it has: there is no ${CURRENT_CONFIG} on its disk, no currentConfig in ${NODE_ANNOTATIONS}, and none on its Node object. Install the machine through the machine config server, or set the annotation currentConfig of the Node to the config that the machine really has`,
  );
}

async function writtenName(files: FileSystem): Promise<string | null> {
  if ((await files.lookAt(NODE_ANNOTATIONS)) === null) return null;
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(await files.read(NODE_ANNOTATIONS, MAX_BYTES)));
    const name = (json as Record<string, unknown>)[nodeAnnotations.currentConfig];
    return typeof name === 'string' ? name : null;
  } catch {
    return null;
  }
}
