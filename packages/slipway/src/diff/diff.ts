import { stat } from 'node:fs/promises';
import { type MachineConfig, machineConfigKind, machineConfigs, RENDERED_PREFIX } from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import { diffRendered, ProblemList } from '@slipway/fleet';
import { checkShape } from '@slipway/fleet/check';
import { formatDiff } from '@slipway/ignition';
import { CommandError } from '../cli/errors.ts';
import { type Io, describeSystemError, toJson, write } from '../cli/io.ts';
import type { RenderOptions } from '../cli/options.ts';
import type { ClusterOptions } from '../cli/program.ts';
import { reportProblems, useCluster } from '../cli/run.ts';
import { manifestsIn, readManifestFile, readManifests, withoutForeign } from '../manifests/documents.ts';
import { STDIN } from '../manifests/files.ts';
import type { FleetManifests } from '../manifests/fleet-manifests.ts';
import { errorsIn, type ManifestDocument, placeFinding, toCodedProblem } from '../manifests/manifest-document.ts';
import { findPool, buildOfflineFleet } from '../render/render.ts';

interface SideOptions extends RenderOptions, ClusterOptions {
  pool?: string;
}

export interface DiffOptions extends SideOptions {
  output: 'text' | 'json';
  showSecrets?: boolean;
}

const DIFFERENT = 2;

export const runDiff = (before: string, after: string, options: DiffOptions, io: Io): Promise<void> =>
  reportProblems(io, async () => {
    if (before === STDIN && after === STDIN) {
      throw new CommandError('SLW_CLI_COMPARE', 'expected - (stdin) for at most one side, found it for both');
    }
    const old = await readSide(before, options, io.stdin);
    const now = await readSide(after, options, io.stdin);
    await write(io.stderr, `--- ${old.title}\n+++ ${now.title}\n`);
    const { items, report } = await diffRendered(old.spec, now.spec, { showSecrets: options.showSecrets ?? false });
    if (items === null) {
      throw ProblemList.of(
        'SLW_CLI_COMPARE',
        report.map(({ path, message }) => `the two cannot be compared: ${path === '' ? '' : `${path}: `}${message}`),
      );
    }
    await write(io.stdout, options.output === 'json' ? toJson({ items }, options) : formatDiff(items), options);
    if (items.length > 0) io.setExitCode(DIFFERENT);
  });

type Spec = NonNullable<MachineConfig['spec']>;

/** One side of a comparison: a config from a file, rendered from manifests, or from a cluster. */
interface Side {
  /** A human-readable title. */
  title: string;
  spec: Spec;
}

async function readSide(given: string, options: SideOptions, stdin: AsyncIterable<Uint8Array>): Promise<Side> {
  const found = given === STDIN ? 'file' : await kindOfPath(given);
  if (found === 'nothing') {
    if (isNameInCluster(given, options)) return fromCluster(given, options);
    throw new CommandError(
      'SLW_CLI_COMPARE',
      `${given}: no such file or directory. To compare a MachineConfig of a cluster, add --kubeconfig`,
    );
  }
  if (found === 'directory') return render(given, await readManifests([given], stdin, options.namespace), options);
  const file = await readManifestFile(given, stdin);
  if (file.findings.length > 0) throw new ProblemList(file.findings.map(toCodedProblem));
  const only = asItIs(file.documents);
  if (only !== undefined) return only;
  const { documents, findings } = withoutForeign(file, true);
  return render(given, manifestsIn(given, documents, options.namespace, findings), options);
}

async function kindOfPath(path: string): Promise<'file' | 'directory' | 'nothing'> {
  try {
    return (await stat(path)).isDirectory() ? 'directory' : 'file';
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'nothing';
    throw new CommandError('SLW_CLI_COMPARE', `${path} cannot be read: ${describeSystemError(error)}`, {
      cause: error,
    });
  }
}

/** Rendered configs are recognised by name. Other names could be misspelt files, unless a cluster is given. */
function isNameInCluster(given: string, { kubeconfig, context }: SideOptions): boolean {
  const isName = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(given);
  return isName && (given.startsWith(RENDERED_PREFIX) || kubeconfig !== undefined || context !== undefined);
}

async function fromCluster(name: string, options: SideOptions): Promise<Side> {
  const { spec = {} } = await useCluster(options, (client) => client.get(machineConfigs, { name }));
  return { title: `MachineConfig ${name} of the cluster`, spec };
}

/** The only MachineConfig or Ignition config in a file. */
function asItIs(documents: readonly ManifestDocument[]): Side | undefined {
  const [document, ...others] = documents;
  if (document === undefined || others.length > 0 || !isRecord(document.value)) return undefined;
  const { file, value } = document;
  if (value['kind'] === undefined && isRecord(value['ignition'])) return { title: file, spec: { config: value } };
  if (value['kind'] !== machineConfigKind.kind) return undefined;
  const { object, findings } = checkShape(machineConfigKind, value);
  if (object === null) throw new ProblemList(errorsIn(findings.map((finding) => placeFinding(document, finding))));
  const { metadata, spec = {} } = object;
  return { title: `${file} (MachineConfig ${metadata.name})`, spec };
}

async function render(given: string, manifests: FleetManifests, options: SideOptions): Promise<Side> {
  if (options.pool === undefined) {
    throw new CommandError(
      'SLW_CLI_COMPARE',
      `${given}: expected one config, found the manifests of a fleet. Choose the pool to render with --pool NAME`,
    );
  }
  const offline = buildOfflineFleet(manifests, options);
  const { rendered } = await offline.render(findPool(offline.fleet, options.pool));
  return { title: `${given} (${rendered.name})`, spec: rendered.spec };
}
