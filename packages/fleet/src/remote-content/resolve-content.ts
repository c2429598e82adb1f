// The config of a MachineConfig with everything it names inside it, or every reason why that cannot be.
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
 * Lower than the library's own: several MachineConfigs are fetched at the same time, and what a machine gets in the end,
 * gzip included, must fit into 1.5 MiB.
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

/** An annotation is no place for a novel; the first problems are enough to begin with. */
const MAX_PROBLEMS = 20;
const MAX_MESSAGE = 2000;
const REMEDIATION = 'It is tried again by itself later, and at once when the MachineConfig is changed.';

export async function resolveContent(
  machineConfig: MachineConfig,
  { fetch, hosts, limits }: ContentSource,
  signal?: AbortSignal,
): Promise<ResolvedContent> {
  const own = parse(machineConfig.spec?.config ?? {}).config;
  if (own === null) return { ok: false, problems: listProblems(machineConfig) };
  const { config, report } = await resolve(own, {
    name: `MachineConfig ${machineConfig.metadata.name}`,
    fetch,
    hosts,
    limits,
    compress: false,
    ...(signal === undefined ? {} : { signal }),
  });
  if (config !== null) return { ok: true, config };
  const problems = report.map(({ code, path, message }) => buildProblem(code, path, `${message}. ${REMEDIATION}`));
  return { ok: false, problems: problems.slice(0, MAX_PROBLEMS) };
}

/** A render would find the same: it is said in its words. */
function listProblems(machineConfig: MachineConfig): SnapshotProblem[] {
  const read = readMachineConfig(machineConfig);
  const problems = read.ok ? [] : read.problems;
  return problems.slice(0, MAX_PROBLEMS).map(({ code, field, message }) => ({ code, field, message: cut(message) }));
}

const toFieldPath = (path: string): string => (path === '' ? 'spec.config' : `spec.config.${path}`);

function buildProblem(code: string, path: string, message: string): SnapshotProblem {
  return { code, field: toFieldPath(path), message: cut(message) };
}

const cut = (message: string): string => truncate(message, MAX_MESSAGE);

// A lost snapshot, found again in what was rendered from it.

/** A file's contents in a config, as all spec versions have them. */
interface Contents {
  source?: string;
  compression?: string;
}

/** No connection is made, so no address is refused: what was allowed at the fetch may be forbidden by now. */
const anyHost = { allowAddresses: ['0.0.0.0/0', '::/0'] };

/**
 * Takes each remote file from the file of the same path in a rendered config. That may be another MachineConfig's, or
 * an older one, so only what gives the known digest is the snapshot. Configs that were merged by reference are not in a
 * rendered config any more: a MachineConfig that has them cannot be recovered.
 */
export async function recoverSnapshot(
  machineConfig: MachineConfig,
  digest: string,
  renderedConfigs: AsyncIterable<MachineConfig> | Iterable<MachineConfig>,
): Promise<PackedSnapshot | undefined> {
  const wanted = contentsByPath(machineConfig);
  for await (const rendered of renderedConfigs) {
    const fetch = fetcherFrom(wanted, contentsByPath(rendered));
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

function fetcherFrom(wanted: Map<string, Contents>, rendered: Map<string, Contents>): Fetcher {
  const pathOf = new Map<string, string>();
  for (const [path, { source }] of wanted) pathOf.set(requestUrl(source ?? ''), path);
  return async ({ url }) => {
    const path = pathOf.get(url) ?? '';
    const contents = rendered.get(path);
    const bytes = contents === undefined ? undefined : await bytesFor(wanted.get(path), contents);
    return bytes === undefined ? { ok: false, problem: 'it is not in the rendered config' } : { ok: true, bytes };
  };
}

/** As a fetch names it: without the fragment, which no server sees. */
function requestUrl(source: string): string {
  const url = URL.parse(source);
  if (url === null) return '';
  url.hash = '';
  return url.href;
}

/** What the server sent: packed if the reference says so, whatever form the rendered config has it in. */
async function bytesFor(reference: Contents | undefined, { source = '', compression }: Contents) {
  const decoded = decodeDataUrl(source);
  if (!decoded.ok) return undefined;
  const isPacked = compression === 'gzip';
  if ((reference?.compression === 'gzip') === isPacked) return decoded.bytes;
  if (!isPacked) return gzip(decoded.bytes);
  const unpacked = await gunzip(decoded.bytes, { maxBytes: contentLimits.singleBytes });
  return unpacked.ok ? unpacked.bytes : undefined;
}
