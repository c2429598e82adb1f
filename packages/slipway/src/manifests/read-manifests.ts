import { ProblemList } from '@slipway/fleet';
import { CommandError } from '../cli/errors.ts';
import { documentsOf, type ManifestDocument, readText } from './documents.ts';
import { findManifestFiles } from './find-files.ts';
import { collectManifests, type FleetManifests } from './fleet-manifests.ts';

/** All that is read in one call, dumps of large clusters included. */
const MAX_TOTAL_CHARACTERS = 256 * 1024 * 1024;

/** Everything that `-f` names. Throws every problem of every file together, since whoever mends them wants them all. */
export async function readManifests(
  paths: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
  namespace: string,
): Promise<FleetManifests> {
  const { documents, problems } = await readDocuments(paths, stdin);
  return manifestsIn(paths.join(', '), documents, namespace, problems);
}

/** The documents of all files; files that cannot be read are problems. */
export async function readDocuments(
  paths: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
): Promise<{ documents: ManifestDocument[]; problems: string[] }> {
  const files = await findManifestFiles(paths);
  const documents: ManifestDocument[] = [];
  const problems: string[] = [];
  let characters = 0;
  for (const file of files) {
    try {
      const text = await readText(file, stdin);
      characters += text.length;
      if (characters > MAX_TOTAL_CHARACTERS) throw tooMuch();
      documents.push(...documentsOf(file, text));
    } catch (error) {
      if (!(error instanceof CommandError) || characters > MAX_TOTAL_CHARACTERS) throw error;
      problems.push(error.message);
    }
  }
  return { documents, problems };
}

/** What `documents` have of a fleet; `name` is what people call all of them, `problems` what was wrong before. */
export function manifestsIn(
  name: string,
  documents: readonly ManifestDocument[],
  namespace: string,
  problems: readonly string[] = [],
): FleetManifests {
  const collected = collectManifests(documents, namespace);
  if (!collected.ok) throw ProblemList.of('SLW_CLI_MANIFEST', [...problems, ...collected.problems]);
  if (problems.length > 0) throw ProblemList.of('SLW_CLI_MANIFEST', problems);
  const { manifests } = collected;
  if (manifests.machineConfigs.length + manifests.pools.length === 0) {
    throw new CommandError(
      'SLW_CLI_MANIFEST',
      `${name}: expected MachineConfigs and MachineConfigPools in .yaml, .yml or .json files, found ${sayIgnored(manifests)}`,
    );
  }
  return manifests;
}

function tooMuch(): CommandError {
  return new CommandError(
    'SLW_CLI_MANIFEST',
    `the manifests have more than ${MAX_TOTAL_CHARACTERS / 1024 / 1024} MiB together; leave out what is not a MachineConfig, MachineConfigPool or ConfigMap`,
  );
}

/** `3 other objects (Secret 2, Deployment 1)`. */
export function sayIgnored({ ignored }: Pick<FleetManifests, 'ignored'>): string {
  const kinds = [...ignored].sort(([a], [b]) => (a < b ? -1 : 1));
  const count = kinds.reduce((sum, [, each]) => sum + each, 0);
  if (count === 0) return 'nothing';
  const shown = kinds.slice(0, 8).map(([kind, each]) => `${kind} ${each}`);
  const more = kinds.length > shown.length ? ', …' : '';
  return `${count} other ${count === 1 ? 'object' : 'objects'} (${shown.join(', ')}${more})`;
}
