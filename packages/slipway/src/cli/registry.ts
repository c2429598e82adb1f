// The registry client, configured by the flags of a command.
import { whyRedirectRefused } from '@slipway/ignition';
import type { Registry, RegistryOptions } from '@slipway/registry';
import { readSmallText } from './io.ts';
import type { RegistryFlags } from './options.ts';

export type RegistryFiles = Omit<RegistryFlags, 'arch'>;

/** Reads the files that the flags name. Sends no request to a registry. */
export async function registryOptions(flags: RegistryFiles): Promise<RegistryOptions> {
  // Loaded late: commands without a registry do not need the client.
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

/** Timeouts that override those of the registry client. */
export type RegistryTimeouts = Pick<RegistryOptions, 'retries' | 'silenceMs'>;

export async function openRegistry(flags: RegistryFlags, timeouts: RegistryTimeouts = {}): Promise<Registry> {
  const options = await registryOptions(flags);
  const { createRegistry } = await import('@slipway/registry');
  return createRegistry({
    ...options,
    ...timeouts,
    redirectRule: whyRedirectRefused,
    platform: { os: 'linux', architecture: flags.arch },
  });
}
