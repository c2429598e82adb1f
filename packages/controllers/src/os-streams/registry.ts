// The registry client of the controllers: made anew when the pull secret of the cluster changes.
import type { Secret } from '@slipway/api';
import { sha256 } from '@slipway/base/hash';
import { createRegistry, parsePullSecret, type Registry, type RegistryOptions } from '@slipway/registry';

/** From the text of a pull secret; null: the cluster has none. Throws errors with codes where it cannot be read. */
export type MakeRegistry = (pullSecret: string | null) => Registry;

export const registryWith =
  (options: Omit<RegistryOptions, 'credentials'>): MakeRegistry =>
  (pullSecret) =>
    createRegistry({ ...options, ...(pullSecret !== null && { credentials: parsePullSecret(pullSecret) }) });

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

/** Tells one from another, and nothing of what it says. */
export const computePullSecretDigest = (secret: Secret | undefined): string =>
  sha256(secret?.data?.[PULL_SECRET_KEY] ?? '');
