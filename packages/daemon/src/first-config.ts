// Which config a machine has whose disk does not say: what its Node or its first boot says, if the machine really is that.
import { nodeAnnotations } from '@slipway/api/names';
import { isRecord } from '@slipway/base/json';
import { describeDrifts } from './drift/drift.ts';
import { isForced } from './drift/force-file.ts';
import { DaemonError } from './errors.ts';
import type { FileSystem } from './host/file-system.ts';
import type { Host } from './host/host.ts';
import type { LocalNode } from './local-node.ts';
import { CURRENT_CONFIG, NODE_ANNOTATIONS } from './node-paths.ts';
import { type Problem, problemOf } from './problem.ts';
import type { ConfigReader } from './read-config.ts';
import type { Reporter } from './report/reporter.ts';

export interface FirstConfigParts {
  readonly host: Pick<Host, 'files'>;
  readonly local: Pick<LocalNode, 'verify' | 'adopt'>;
  readonly readConfig: ConfigReader;
  readonly reporter: Pick<Reporter, 'event'>;
}

/** `said` is what the Node says; null: nothing. Resolves to null where the machine has its config from now on. */
export async function adoptFirstConfig(
  { host, local, readConfig, reporter }: FirstConfigParts,
  said: string | null,
  signal: AbortSignal,
): Promise<Problem | null> {
  try {
    const name = said ?? (await firstConfigName(host.files));
    const config = await readConfig(name, signal);
    const drifts = (await isForced(host.files)) ? [] : await local.verify(config);
    if (drifts.length === 0) {
      await local.adopt(config);
      return null;
    }
    const message = describeDrifts(name, drifts);
    reporter.event('OnDiskStateValidationFailed', message);
    return { code: 'SLW_DAEMON_DRIFT', message };
  } catch (error) {
    return problemOf(error);
  }
}

const MAX_BYTES = 64 * 1024;

/** Rejects with a DaemonError where nothing is written down. */
async function firstConfigName(files: FileSystem): Promise<string> {
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
    const name = isRecord(json) ? json[nodeAnnotations.currentConfig] : undefined;
    return typeof name === 'string' ? name : null;
  } catch {
    return null;
  }
}
