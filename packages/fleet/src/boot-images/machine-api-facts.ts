// What a MachineSet of the Machine API says of its machines.
import type { MachineSet } from '@slipway/api';
import { type ArchitectureContext, architectureOf } from './architecture.ts';
import type { MachineReading } from './facts.ts';
import { fieldAt, shown } from './json-path.ts';
import { readProviderSpec } from './machine-api-spec.ts';
import { imageRule } from './platforms/index.ts';
import { type Json, type Platform, platforms } from './verdict.ts';

/** What is the same for all of a cluster. */
export interface MachineContext extends Omit<ArchitectureContext, 'platform'> {
  /** Infrastructure `cluster`, status.platformStatus.type; '' where there is none. */
  readonly platformType: string;
}

export interface ReadMachines {
  readonly machine: MachineReading;
  /** Name of the Secret with user data; '' where none is named, or it cannot be told. */
  readonly userData: string;
}

export function readMachineSet(set: MachineSet, context: MachineContext): ReadMachines {
  // It came out of JSON.
  const value = set.spec?.template?.spec?.providerSpec?.value as Json | undefined;
  const platform = platformOf(context.platformType, value);
  if (platform === null) return { machine: unknownPlatform(context, value), userData: '' };
  const read = readProviderSpec(platform, value);
  if (!read.ok) return { machine: { ok: false, platform, code: read.code, message: read.message }, userData: '' };
  const { spec, userDataSecret } = read;
  const architecture = architectureOf(set, { ...context, platform });
  const rule = imageRule('machine.openshift.io', platform);
  return { machine: { ok: true, platform, architecture, spec, rule }, userData: userDataSecret };
}

/** The Secret with user data, by the kind of the spec; '' where none is named, or it cannot be told. */
export const userDataSecretOf = (set: MachineSet): string => readMachineSet(set, anywhere).userData;
const anywhere = { platformType: '', clusterArchitecture: '', ownArchitecture: '' };

/** Where the cluster does not say what it runs on, the spec does. */
function platformOf(type: string, value: Json | undefined): Platform | null {
  const named = platforms.find((platform) => platform === type.toLowerCase());
  return named ?? platforms.find((platform) => readProviderSpec(platform, value).ok) ?? null;
}

function unknownPlatform({ platformType }: MachineContext, value: Json | undefined): MachineReading {
  const found = `found platform "${platformType}" in Infrastructure cluster and kind ${shown(fieldAt(value, 'kind'))} in providerSpec.value`;
  const message = `expected a platform whose boot images are known (${platforms.join(', ')}), ${found}. Opt the MachineSet out of boot image updates`;
  return { ok: false, platform: null, code: 'SLW_BOOT_IMAGES_PLATFORM', message };
}
