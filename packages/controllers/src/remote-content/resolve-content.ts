// The config of a MachineConfig with everything it names inside it, or every reason why that cannot be.
import type { MachineConfig } from '@slipway/api';
import { readMachineConfig } from '@slipway/fleet';
import {
  type AnyConfig,
  DEFAULT_LIMITS,
  type Fetcher,
  type HostPolicy,
  parse,
  resolve,
  type ResolveLimits,
} from '@slipway/ignition';
import type { SnapshotProblem } from './index-secret.ts';

const mebibyte = 1024 * 1024;

/**
 * Lower than the library's own: several MachineConfigs are fetched at the same time, and what a machine gets in the end,
 * gzip included, must fit into 1.5 MiB.
 */
export const contentLimits: ResolveLimits = {
  ...DEFAULT_LIMITS,
  singleBytes: 8 * mebibyte,
  totalBytes: 16 * mebibyte,
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
const maxProblems = 20;
const maxMessage = 2000;
const wayOut = 'It is tried again by itself later, and at once when the MachineConfig is changed.';

export async function resolveContent(
  machineConfig: MachineConfig,
  { fetch, hosts, limits }: ContentSource,
  signal?: AbortSignal,
): Promise<ResolvedContent> {
  const own = parse(machineConfig.spec?.config ?? {}).config;
  if (own === null) return { ok: false, problems: problemsOf(machineConfig) };
  const { config, report } = await resolve(own, {
    name: `MachineConfig ${machineConfig.metadata.name}`,
    fetch,
    hosts,
    limits,
    compress: false,
    ...(signal === undefined ? {} : { signal }),
  });
  if (config !== null) return { ok: true, config };
  const problems = report.map(({ code, path, message }) => problemOf(code, path, `${message}. ${wayOut}`));
  return { ok: false, problems: problems.slice(0, maxProblems) };
}

/** A render would find the same: it is said in its words. */
function problemsOf(machineConfig: MachineConfig): SnapshotProblem[] {
  const read = readMachineConfig(machineConfig);
  const problems = read.ok ? [] : read.problems;
  return problems.slice(0, maxProblems).map(({ code, field, message }) => ({ code, field, message: cut(message) }));
}

const fieldOf = (path: string): string => (path === '' ? 'spec.config' : `spec.config.${path}`);

function problemOf(code: string, path: string, message: string): SnapshotProblem {
  return { code, field: fieldOf(path), message: cut(message) };
}

const cut = (message: string): string => (message.length > maxMessage ? `${message.slice(0, maxMessage)}…` : message);
