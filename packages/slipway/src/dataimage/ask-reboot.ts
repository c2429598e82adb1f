import { type BareMetalHost, bareMetalHosts } from '@slipway/api';
import { rebootAnnotation } from '@slipway/fleet/hosts';
import { hostEntry } from '@slipway/fleet/reports';
import type { Client, Stored } from '@slipway/kube';
import { CommandError } from '../cli/errors.ts';

/** A host that is off, or on its way there, needs none: its drive is changed before it is switched on. */
export function needsReboot(host: BareMetalHost): boolean {
  const { isOn, shallBeOn } = hostEntry(host);
  return isOn && shallBeOn;
}

/** `done` is what stands already if this fails. The operating system shuts down by itself; it is cut off after 3 minutes. */
export async function askReboot(client: Client, host: Stored<BareMetalHost>, done: string): Promise<void> {
  const { metadata, spec } = host;
  const { name, uid } = metadata;
  const namespace = metadata.namespace ?? '';
  if (spec?.disablePowerOff === true) {
    throw new CommandError(
      'SLW_CLI_DATA_IMAGE',
      `${done}, but no reboot was asked for: spec.disablePowerOff of BareMetalHost ${namespace}/${name} is true, and so nobody switches it off. Power cycle it by hand, or use spec.immediate (slipway dataimage attach --immediate), where the hardware can`,
    );
  }
  const body = { metadata: { annotations: { [rebootAnnotation]: '' } } };
  try {
    await client.patch(bareMetalHosts, metadata, { type: 'merge', body }, { uid }, { fieldManager: 'slipway' });
  } catch (error) {
    throw new CommandError(
      'SLW_CLI_DATA_IMAGE',
      `${done}, but no reboot was asked for: ${error instanceof Error ? error.message : String(error)}. Whoever may change the host does it with: kubectl annotate -n ${namespace} bmh ${name} ${rebootAnnotation}=`,
      { cause: error },
    );
  }
}
