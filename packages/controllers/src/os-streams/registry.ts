// The registry client of the controllers: recreated when the cluster's pull secret changes.
import type { Secret } from '@slipway/api';
import { sha256 } from '@slipway/base/hash';
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
