// The config of a MachineConfig with all remote content inlined, or the problems with it.
import { truncate } from '@slipway/base/text';
import type { MachineConfig } from '@slipway/api';
import {
  type AnyConfig,
  decodeDataUrl,
  DEFAULT_LIMITS,
  type Fetcher,
  gunzip,
  gzip,
  type HostPolicy,
  parse,
  resolve,
  type ResolveLimits,
} from '@slipway/ignition';
import { readMachineConfig } from '../render/input.ts';
import { type PackedSnapshot, packSnapshot, snapshotDigest } from '../render/pack-snapshot.ts';
import type { SnapshotProblem } from './snapshot.ts';

const MEBIBYTE = 1024 * 1024;

/**
 * Lower than the defaults of the library: several MachineConfigs are fetched concurrently, and the final config must
 * fit into 1.5 MiB even with compression.
 */
export const contentLimits: ResolveLimits = {
  ...DEFAULT_LIMITS,
  singleBytes: 8 * MEBIBYTE,
  totalBytes: 16 * MEBIBYTE,
  timeMs: 2 * 60_000,
  parallel: 4,
};

export interface ContentSource {
  fetch: Fetcher;
  hosts: HostPolicy;
  limits: ResolveLimits;
}

export type ResolvedContent = { ok: true; config: AnyConfig } | { ok: false; problems: SnapshotProblem[] };

/** Annotations are limited in size, and the first problems are enough to start with. */
const MAX_PROBLEMS = 20;
const MAX_MESSAGE = 2000;
const REMEDIATION = 'Slipway retries automatically, and immediately when the MachineConfig changes.';

export async function resolveContent(
  machineConfig: MachineConfig,
  { fetch, hosts, limits }: ContentSource,
  signal?: AbortSignal,
): Promise<ResolvedContent> {
  const own = parse(machineConfig.spec?.config ?? {}).config;
  if (own === null) return { ok: false, problems: await listProblems(machineConfig) };
  const { config, report } = await resolve(own, {
    name: `MachineConfig ${machineConfig.metadata.name}`,
    field: 'spec.config',
    fetch,
    hosts,
    limits,
    compress: false,
    ...(signal === undefined ? {} : { signal }),
  });
  if (config !== null) return { ok: true, config };
  const problems = report.map(({ code, path, message }) => ({
    code,
    field: path,
    message: cut(`${message}. ${REMEDIATION}`),
  }));
  return { ok: false, problems: problems.slice(0, MAX_PROBLEMS) };
}

/** The problems that a render would report. */
async function listProblems(machineConfig: MachineConfig): Promise<SnapshotProblem[]> {
  const read = await readMachineConfig(machineConfig);
  const problems = read.ok ? [] : read.problems;
  return problems.slice(0, MAX_PROBLEMS).map(({ code, field, message }) => ({ code, field, message: cut(message) }));
}

const cut = (message: string): string => truncate(message, MAX_MESSAGE);

// Recovers a lost snapshot from the configs that were rendered from it.

/** The contents of a file, in all spec versions. */
interface Contents {
  source?: string;
  compression?: string;
}

/** No connection is made, so no address is refused: the policy may have changed since the fetch. */
const anyHost = { allowAddresses: ['0.0.0.0/0', '::/0'] };

/**
 * Takes each remote file from the same path in a rendered config. That file may be from another MachineConfig or an
 * older version, so only a result with the known digest is accepted. Rendered configs do not preserve configs that were
 * merged by reference: a MachineConfig with such references cannot be recovered.
 */
export async function recoverSnapshot(
  machineConfig: MachineConfig,
  digest: string,
  renderedConfigs: AsyncIterable<MachineConfig> | Iterable<MachineConfig>,
): Promise<PackedSnapshot | undefined> {
  const references = contentsByPath(machineConfig);
  for await (const rendered of renderedConfigs) {
    const fetch = fetcherFrom(references, contentsByPath(rendered));
    const resolved = await resolveContent(machineConfig, { fetch, hosts: anyHost, limits: contentLimits });
    if (resolved.ok && (await snapshotDigest(resolved.config)) === digest) return packSnapshot(resolved.config);
  }
  return undefined;
}

function contentsByPath({ spec }: MachineConfig): Map<string, Contents> {
  const config: AnyConfig | null = parse(spec?.config ?? {}).config;
  const found = new Map<string, Contents>();
  for (const { path, contents } of config?.storage?.files ?? []) {
    if (contents !== undefined) found.set(path, contents);
  }
  return found;
}

function fetcherFrom(references: Map<string, Contents>, rendered: Map<string, Contents>): Fetcher {
  const pathOf = new Map<string, string>();
  for (const [path, { source }] of references) pathOf.set(requestUrl(source ?? ''), path);
  return async ({ url }) => {
    const path = pathOf.get(url) ?? '';
    const contents = rendered.get(path);
    const bytes = contents === undefined ? undefined : await bytesFor(references.get(path), contents);
    return bytes === undefined
      ? { ok: false, problem: 'the content is not in the rendered config' }
      : { ok: true, bytes };
  };
}

/** The URL of the request: without the fragment, which is never sent. */
function requestUrl(source: string): string {
  const url = URL.parse(source);
  if (url === null) return '';
  url.hash = '';
  return url.href;
}

/** The bytes that the server sent: compressed if the reference has compression, whatever the rendered config has. */
async function bytesFor(reference: Contents | undefined, { source = '', compression }: Contents) {
  const decoded = decodeDataUrl(source);
  if (!decoded.ok) return undefined;
  const isPacked = compression === 'gzip';
  if ((reference?.compression === 'gzip') === isPacked) return decoded.bytes;
  if (!isPacked) return gzip(decoded.bytes);
  const unpacked = await gunzip(decoded.bytes, { maxBytes: contentLimits.singleBytes });
  return unpacked.ok ? unpacked.bytes : undefined;
}
