// The client for registries, as the flags of a command ask for it.
import type { Registry, RegistryOptions } from '@slipway/registry';
import { readSmallText } from './io.ts';
import type { RegistryFlags } from './options.ts';

export type RegistryFiles = Omit<RegistryFlags, 'arch'>;

/** Reads what the flags name. Nothing is asked of any registry yet. */
export async function registryOptions(flags: RegistryFiles): Promise<RegistryOptions> {
  // Only who asks a registry pays for loading what talks to it.
  const { parsePullSecret, parseRegistriesConf } = await import('@slipway/registry');
  const secret = await readSmallText('--pull-secret', flags.pullSecret);
  const conf = await readSmallText('--registries-conf', flags.registriesConf);
  const { mirrors, plainHttp } = parseRegistriesConf(conf ?? '');
  return {
    ...(secret !== undefined && { credentials: parsePullSecret(secret) }),
    mirrors,
    plainHttp: [...(flags.plainHttp ?? []), ...plainHttp],
    ca: await readSmallText('--registry-ca', flags.registryCa),
  };
}

/** How long it may take, where that is not for the registry client to say. */
export type RegistryTimeouts = Pick<RegistryOptions, 'retries' | 'silenceMs'>;

export async function openRegistry(flags: RegistryFlags, patience: RegistryTimeouts = {}): Promise<Registry> {
  const options = await registryOptions(flags);
  const { createRegistry } = await import('@slipway/registry');
  return createRegistry({ ...options, ...patience, platform: { os: 'linux', architecture: flags.arch } });
}
