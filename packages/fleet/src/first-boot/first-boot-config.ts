import {
  generatedByAnnotation,
  type MachineConfig,
  type MachineConfigPool,
  machineConfigs,
  nodeAnnotations,
} from '@slipway/api';
import { type ConfigOf, encodeContents, encodeDataUrl, parse, type Report, translate } from '@slipway/ignition';
import { FirstBootError } from '../errors.ts';
import { serverPaths } from '../render/ignition.ts';
import { isRenderedFor } from '../render/rendered-name.ts';
import type { PoolFacts, RolloutState } from '../rollout/facts.ts';
import { isKnownGood, resolveTarget } from '../rollout/lifecycle.ts';
import { readPoolFacts } from '../rollout/read-facts.ts';

/** What a machine needs to become a node of the cluster. */
export interface JoiningNode {
  /** The kubeconfig that its kubelet starts with. */
  kubeconfig: string;
  /** PEM: the CAs of the API server. */
  caBundle: string;
}

type Storage = NonNullable<ConfigOf<'3.5.0'>['storage']>;
type File = NonNullable<Storage['files']>[number];

/**
 * The config of a machine at its first boot: its rendered config, and the files that make it join as a node with a
 * known config. Render refuses MachineConfigs with these paths; where a rendered config has one anyway, the file here
 * wins: a machine with another kubeconfig would never join, and no controller could change it.
 */
export async function firstBootConfig(rendered: MachineConfig, node: JoiningNode): Promise<ConfigOf<'3.5.0'>> {
  const config = parseRenderedIgnition(rendered);
  const ours = await Promise.all([
    buildFile(serverPaths.nodeAnnotations, 0o644, annotationsFor(rendered.metadata.name)),
    buildFile(serverPaths.kubeconfig, 0o600, node.kubeconfig),
    buildFile(serverPaths.caBundle, 0o644, node.caBundle),
    // It repeats every file of the config, including those that only root may read.
    buildFile(serverPaths.encapsulated, 0o600, encapsulate(rendered)),
  ]);
  return { ...config, storage: placeFiles(config.storage ?? {}, ours) };
}

function parseRenderedIgnition(rendered: MachineConfig): ConfigOf<'3.5.0'> {
  const parsed = parse(rendered.spec?.config ?? {});
  if (parsed.config === null) throw unusable(rendered, parsed.report);
  const { config, report } = translate(parsed.config, '3.5.0');
  if (config === null) throw unusable(rendered, report);
  return config;
}

function unusable(rendered: MachineConfig, report: Report): FirstBootError {
  const { path, message } = report.find(({ kind }) => kind === 'error') ?? {
    path: '',
    message: 'the config cannot be read',
  };
  const field = path === '' ? 'spec.config' : `spec.config.${path}`;
  return new FirstBootError(
    'SLW_FIRST_BOOT_CONFIG',
    `MachineConfig ${rendered.metadata.name}, ${field}: ${message}. Expected an Ignition config from the render controller. If another client wrote it, delete the object, and the controller renders it again`,
  );
}

async function buildFile(path: string, mode: number, text: string): Promise<File> {
  return { path, mode, overwrite: true, contents: await encodeContents(new TextEncoder().encode(text)) };
}

const annotationsFor = (name: string): string =>
  JSON.stringify({
    [nodeAnnotations.currentConfig]: name,
    [nodeAnnotations.desiredConfig]: name,
    [nodeAnnotations.state]: 'Done',
  });

/** Without the fields that the API server adds: the same config has the same bytes on every server. */
function encapsulate({ metadata: { name, annotations }, spec }: MachineConfig): string {
  const generatedBy = annotations?.[generatedByAnnotation];
  return JSON.stringify({
    apiVersion: `${machineConfigs.group}/${machineConfigs.version}`,
    kind: machineConfigs.kind,
    metadata: { name, ...(generatedBy === undefined ? {} : { annotations: { [generatedByAnnotation]: generatedBy } }) },
    spec,
  });
}

/** Removes files, directories and links at the paths of these files. */
function placeFiles(storage: Storage, ours: readonly File[]): Storage {
  const taken = new Set(ours.map(({ path }) => path));
  const others = <T extends { path: string }>(nodes: readonly T[] | undefined): T[] =>
    (nodes ?? []).filter(({ path }) => !taken.has(path));
  const { files, directories, links, ...rest } = storage;
  return {
    ...rest,
    ...(directories === undefined ? {} : { directories: others(directories) }),
    files: [...others(files), ...ours],
    ...(links === undefined ? {} : { links: others(links) }),
  };
}

/** A single machine can report any config as its own, the canary too. */
const MIN_UPDATED = 2;

/**
 * The rendered config for new machines of a pool. A config that no machine runs yet may not boot: new machines get the
 * last one that every machine had, and the target only once the rollout has passed its first wave and a second machine
 * has the target. While the rollout is halted, no machine gets the target, new ones neither.
 */
export function servedConfig(pool: MachineConfigPool): string | undefined {
  const { pool: facts } = readPoolFacts(pool);
  const { state } = facts;
  const { target } = resolveTarget(facts, 0);
  const proven = findLastGood(facts);
  if (target === null || proven === null) return target ?? proven ?? undefined;
  // Its status follows the target within a second: who boots first must not get the config before, and then be updated.
  const isEmpty = pool.status?.machineCount === 0;
  if (isEmpty && (state === null || state.endedAt !== null)) return target;
  const isTried = (pool.status?.updatedMachineCount ?? 0) >= MIN_UPDATED;
  return state?.target === target && isProven(state, isTried) ? target : proven;
}

/** The status of a pool that had no machines names the target of the rollout to its first ones. */
function findLastGood({ name, proven, state }: PoolFacts): string | null {
  const isUntried = state !== null && state.target === proven && state.endedAt === null;
  const last = isUntried ? (state.from ?? proven) : proven;
  return last !== null && isRenderedFor(name, last) ? last : null;
}

const isProven = (state: RolloutState, isTried: boolean): boolean =>
  isKnownGood(state, null) || (state.wave > 1 && isTried && state.halted === null);

export interface StubRequest {
  /** The address of the server: `https://api-int.example.com:22623`. */
  server: string;
  pool: string;
  /** PEM: every CA that may have issued the server's certificate. */
  caBundle: string;
  /** Omitted if the server answers every client. */
  token?: string | undefined;
}

/**
 * The user data of a new machine: where to fetch its config, which CAs to trust, and its token. Spec 3.1.0 is the
 * oldest with HTTP headers and compressed configs, so it works with the oldest boot images.
 */
export function buildStub({ server, pool, caBundle, token }: StubRequest): ConfigOf<'3.1.0'> {
  return {
    ignition: {
      version: '3.1.0',
      config: {
        merge: [
          {
            source: `${server.replace(/\/+$/, '')}/config/${encodeURIComponent(pool)}?compression=gzip`,
            compression: 'gzip',
            ...(token === undefined ? {} : { httpHeaders: [{ name: 'Authorization', value: `Bearer ${token}` }] }),
          },
        ],
      },
      security: {
        tls: { certificateAuthorities: [{ source: encodeDataUrl(new TextEncoder().encode(caBundle)) }] },
      },
    },
  };
}
