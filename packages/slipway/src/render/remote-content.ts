// Fetches remote content like the controller: completely, into the MachineConfig that refers to it, before the merge.
import type { MachineConfig } from '@slipway/api';
import { needsRemoteContent, type ReadInput, readMachineConfig } from '@slipway/fleet';
import { contentLimits } from '@slipway/fleet/remote-content';
import { type HostPolicy, isAddressRange, parse, resolve, type ResolveOptions } from '@slipway/ignition';
import { CommandError } from '../cli/errors.ts';
import type { RemoteOptions } from '../cli/options.ts';

export type ReadMachineConfig = (machineConfig: MachineConfig) => Promise<ReadInput>;

/** Reads MachineConfigs with their remote content, which is fetched once even if several pools select it. */
export function machineConfigReader(options: RemoteOptions): ReadMachineConfig {
  checkAddresses(options);
  let fetching: Promise<Fetching> | undefined;
  const fetchingOnce = (): Promise<Fetching> => (fetching ??= fetchOptions(options));
  const read = new Map<MachineConfig, Promise<ReadInput>>();
  return (machineConfig) => {
    const known = read.get(machineConfig) ?? readOne(machineConfig, options.fetch ? fetchingOnce : undefined);
    read.set(machineConfig, known);
    return known;
  };
}

type Fetching = Omit<ResolveOptions, 'name' | 'field'>;

function checkAddresses({ allowAddress = [] }: RemoteOptions): void {
  const bad = allowAddress.find((range) => !isAddressRange(range));
  if (bad !== undefined) {
    throw new CommandError(
      'SLW_CLI_USAGE',
      `--allow-address ${bad}: expected an address or a range such as 10.0.0.0/8`,
    );
  }
}

/**
 * Where commands fetch from. Unlike the controllers, they refuse private networks by default: in CI, manifests are of
 * anyone who proposes a change, and a command prints what they refer to.
 */
export const fetchPolicy = (
  allowHosts: readonly string[] | undefined,
  allowAddresses: readonly string[] = [],
): HostPolicy => ({ ...(allowHosts !== undefined && { allowHosts }), allowAddresses, refusePrivate: true });

async function fetchOptions({ allowHost, allowAddress = [], fetchTimeout }: RemoteOptions): Promise<Fetching> {
  // Loaded late: the HTTP client is needed only to fetch.
  const { createFetcher } = await import('../processes/controllers.ts');
  return {
    fetch: createFetcher(),
    hosts: fetchPolicy(allowHost, allowAddress),
    // The limits of the controller, so that both refuse the same content.
    limits: { ...contentLimits, timeMs: fetchTimeout * 1000 },
    // The name of the result must not depend on how this program compresses.
    compress: false,
  };
}

async function readOne(
  machineConfig: MachineConfig,
  fetching: (() => Promise<Fetching>) | undefined,
): Promise<ReadInput> {
  if (fetching === undefined || !needsRemoteContent(machineConfig)) return readMachineConfig(machineConfig);
  const { config } = parse(machineConfig.spec?.config ?? {});
  // Reading it reports what is wrong.
  if (config === null) return readMachineConfig(machineConfig);
  const object = `MachineConfig ${machineConfig.metadata.name}`;
  const resolved = await resolve(config, { ...(await fetching()), name: object, field: 'spec.config' });
  if (resolved.config !== null) return readMachineConfig(machineConfig, resolved.config);
  const problems = resolved.report.map(({ code, message, path }) => ({ code, message, object, field: path }));
  return { ok: false, problems };
}
