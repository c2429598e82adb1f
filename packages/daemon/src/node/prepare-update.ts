// Everything about an update that can be checked or downloaded before the machine is touched.
import type { MachineConfiguration } from '@slipway/api';
import { formatBytes } from '@slipway/base/text';
import {
  computeOSChange,
  computePullAmount,
  type Irreconcilable,
  planUpdate,
  type SizedImage,
  spaceFor,
  type UpdatePlan,
} from '@slipway/fleet';
import type { Log } from '@slipway/kube';
import { type PassedPreflight, preflight } from '../apply/preflight.ts';
import { DaemonError } from '../errors.ts';
import type { ImageStore } from '../host/container-runtime.ts';
import type { Host, OSChange } from '../host/host.ts';
import { listImagesToPull } from '../host/os/change-steps.ts';
import { openSizeSource } from '../pinning/sizes.ts';
import { toCodedProblem, type Problem } from '../problem.ts';
import type { ConfigReader, StoredConfig } from '../stored-config.ts';
import type { LocalNode } from './local-node.ts';

export interface PrepareDeps {
  readonly host: Host;
  readonly local: LocalNode;
  readonly readConfig: ConfigReader;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Pauses healing, so that the machine stays as checked until the update starts. */
  readonly pauseDrift: () => Promise<void>;
  /** Reports the progress of the downloads for this plan. */
  readonly onDownload: (plan: UpdatePlan, text: string) => Promise<void>;
}

export interface DesiredUpdate {
  readonly current: StoredConfig;
  readonly target: string;
  /** The spec of the MachineConfiguration: disruption policies and tolerated changes. */
  readonly settings: MachineConfiguration['spec'] | undefined;
  /** The machine is not compared with its config: an administrator forces the update. */
  readonly isForced: boolean;
  /** The images were downloaded before the drain. */
  readonly isPrepared: boolean;
  /** The node is drained: the update starts if nothing blocks it. */
  readonly isDrained: boolean;
}

export type PrepareResult =
  | {
      readonly type: 'ready';
      readonly target: StoredConfig;
      readonly plan: UpdatePlan;
      /** Null: the machine must be checked again before it is changed, because a drain or a download takes time. */
      readonly preflight: PassedPreflight | null;
    }
  | { readonly type: 'refused'; readonly problem: Problem; readonly cause: 'config' | 'drift' | 'machine' | 'download' }
  | { readonly type: 'irreconcilable'; readonly problem: Problem; readonly changes: readonly Irreconcilable[] };

export async function prepareUpdate(wanted: DesiredUpdate, deps: PrepareDeps): Promise<PrepareResult> {
  const { host, local, readConfig, signal } = deps;
  const { current: from, settings } = wanted;
  const { nodeDisruptionPolicy: policy, irreconcilableValidationOverrides: overrides } = settings ?? {};
  let to: StoredConfig;
  let plan: UpdatePlan;
  try {
    to = await readConfig(wanted.target, signal);
    plan = await planUpdate({ current: from, desired: to, policy, overrides });
  } catch (error) {
    return { type: 'refused', cause: 'config', problem: toCodedProblem(error) };
  }
  const begins = !plan.isEmpty && (wanted.isDrained || !plan.needsDrain);
  const found = await preflight(
    host,
    { from, to, plan },
    {
      // Also after a drain, although the machine was verified before it. A drain can take hours in which pods and users
      // write to this disk, and their changes would become part of the rollback.
      async verify() {
        const drifts = wanted.isForced ? [] : await local.verify(from);
        if (drifts.length === 0 && begins) await deps.pauseDrift();
        return drifts;
      },
    },
  );
  if (found.type !== 'passed') return found;
  const ready = { type: 'ready', target: to, plan } as const;
  const change = wanted.isPrepared ? null : computeOSChange(plan.changes, from.spec, to.spec);
  if (change === null) return { ...ready, preflight: begins ? found : null };
  return (await download(change, plan, deps)) ?? { ...ready, preflight: null };
}

/** Runs before the drain, so that no drained node waits for a download. */
async function download(change: OSChange, plan: UpdatePlan, deps: PrepareDeps): Promise<PrepareResult | null> {
  const onProgress = (text: string): Promise<void> => deps.onDownload(plan, text);
  try {
    const { booted } = await deps.host.os.state();
    await prefetch(listImagesToPull({ booted, change }), { ...deps, onProgress });
    return null;
  } catch (error) {
    return { type: 'refused', cause: 'download', problem: toCodedProblem(error) };
  }
}

export interface PrefetchDeps {
  readonly host: Pick<Host, 'os' | 'files' | 'containers'>;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Human-readable. */
  readonly onProgress: (text: string) => Promise<void>;
}

/** A registry that does not respond must not block the update: the pull may use a mirror. */
const SIZES_MS = 20_000;

/**
 * Downloads images before the drain, so that no drained node waits for them. Rejects with a DaemonError; if the images
 * do not fit, with SLW_DAEMON_SPACE before any download.
 */
export async function prefetch(images: readonly string[], deps: PrefetchDeps): Promise<void> {
  const { host, log, signal, onProgress } = deps;
  const missing = await host.os.missing(images);
  if (missing.length === 0) return;
  const sizes = await fetchSizes(missing, deps);
  expectSpace(missing, sizes, await host.os.store());
  for (const [index, image] of missing.entries()) {
    await onProgress(formatProgress(missing, sizes, index));
    await host.os.prefetch([image], (progress) => log.info({ progress }, 'downloading'), signal);
  }
}

type Sizes = ReadonlyMap<string, SizedImage>;

/** The sizes that the registry reports. */
async function fetchSizes(images: readonly string[], { host, log, signal }: PrefetchDeps): Promise<Sizes> {
  const source = openSizeSource(host);
  const timeoutSignal = AbortSignal.any([signal, AbortSignal.timeout(SIZES_MS)]);
  const sizes = new Map<string, SizedImage>();
  try {
    for (const image of images) sizes.set(image, await source.sizeOf(image, timeoutSignal));
  } catch (error) {
    signal.throwIfAborted();
    log.warn({ err: error }, 'could not get the sizes of the update’s images; downloading them anyway');
  } finally {
    await source.rest();
  }
  return sizes;
}

function expectSpace(images: readonly string[], sizes: Sizes, store: ImageStore): void {
  const { total } = computePullAmount(sizes.values(), []);
  const { fits, needed, usable } = spaceFor(total, { free: store.freeBytes, size: store.sizeBytes });
  if (fits) return;
  throw new DaemonError(
    'SLW_DAEMON_SPACE',
    `The update needs ${images.join(' and ')}. They take ${formatBytes(needed, 'up')} in ${store.path}, twice their download ` +
      `size. Only ${formatBytes(usable)} can be used: ${formatBytes(store.freeBytes)} are free, and a tenth of the file system, ` +
      'at most 2 GiB, is reserved. Nothing was downloaded, and the node was not drained. Free space there, or assign ' +
      'another config to the node',
  );
}

/** `done`: the number of images already downloaded. */
function formatProgress(images: readonly string[], sizes: Sizes, done: number): string {
  const counted = `${done} of ${images.length} images`;
  const of = (some: readonly string[]): SizedImage[] => some.flatMap((image) => sizes.get(image) ?? []);
  if (sizes.size < images.length) return counted;
  const bytes = computePullAmount(of(images), of(images.slice(0, done)));
  return `${counted}, ${formatBytes(bytes.done)} of ${formatBytes(bytes.total, 'up')}`;
}
