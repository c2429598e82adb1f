// What the controllers keep of registries: the client, recreated when the cluster's pull secret changes, and the tags.
import type { Secret } from '@slipway/api';
import { sha256 } from '@slipway/base/hash';
import { digestSources, listTagged, replaceTags, type StreamSources } from '@slipway/fleet/stream-discovery';
import { whyRedirectRefused } from '@slipway/ignition';
import { createRegistry, parsePullSecret, type Registry, type RegistryOptions } from '@slipway/registry';

/** Takes the text of a pull secret, or null if the cluster has none. Throws coded errors if it is not readable. */
export type MakeRegistry = (pullSecret: string | null) => Registry;

export const registryWith =
  (options: Omit<RegistryOptions, 'credentials'>): MakeRegistry =>
  (pullSecret) =>
    createRegistry({
      ...options,
      redirectRule: whyRedirectRefused,
      ...(pullSecret !== null && { credentials: parsePullSecret(pullSecret) }),
    });

export interface KeptRegistry {
  of(secret: Secret | undefined): Registry;
  close(this: void): void;
}

const PULL_SECRET_KEY = '.dockerconfigjson';

export function keepRegistry(make: MakeRegistry): KeptRegistry {
  let kept: { readonly digest: string; readonly registry: Registry } | undefined;
  function close(): void {
    void kept?.registry.close().catch(() => {});
    kept = undefined;
  }
  return {
    of(secret) {
      const text = pullSecretIn(secret);
      const digest = computePullSecretDigest(secret);
      if (kept?.digest === digest) return kept.registry;
      const registry = make(text);
      close();
      kept = { digest, registry };
      return registry;
    },
    close,
  };
}

function pullSecretIn(secret: Secret | undefined): string | null {
  const encoded = secret?.data?.[PULL_SECRET_KEY];
  return encoded === undefined ? null : Buffer.from(encoded, 'base64').toString('utf8');
}

/** Distinguishes pull secrets without revealing their content. */
export const computePullSecretDigest = (secret: Secret | undefined): string =>
  sha256(secret?.data?.[PULL_SECRET_KEY] ?? '');

/** What the tags of sources stand for. Only a cache, so a restart may lose it. */
export interface TagReader {
  /** Milliseconds until the registries must be asked again; null: nothing is specified by tag. */
  waitFor(named: StreamSources, now: number): number | null;
  /**
   * The sources by digest: asks the registries if it is time. `ask` returns what each tag stands for. For a tag that is
   * missing, its last answer holds; without one, it stays a tag.
   */
  read(named: StreamSources, now: number, ask: () => Promise<ReadonlyMap<string, string>>): Promise<StreamSources>;
}

/** A registry that fails is asked again after this time, or after the interval if that is shorter. */
const RETRY_MS = 60_000;

export function createTagReader(intervalMs: number): TagReader {
  let last: { readonly named: string; readonly byTag: ReadonlyMap<string, string>; readonly askAt: number } | undefined;
  const findLast = (named: StreamSources) => (last?.named === digestSources(named, '') ? last : undefined);
  const waitFor: TagReader['waitFor'] = (named, now) =>
    listTagged(named).length === 0 ? null : Math.max(0, (findLast(named)?.askAt ?? now) - now);
  return {
    waitFor,
    async read(named, now, ask) {
      const before = findLast(named)?.byTag ?? new Map<string, string>();
      if (waitFor(named, now) !== 0) return replaceTags(named, before);
      const found = await ask();
      const byTag = new Map([...before, ...found]);
      const isWhole = listTagged(named).every((tag) => found.has(tag));
      const waitMs = isWhole ? intervalMs : Math.min(intervalMs, RETRY_MS);
      last = { named: digestSources(named, ''), byTag, askAt: now + waitMs };
      return replaceTags(named, byTag);
    },
  };
}
