// What is in the drive of a host, as the BMC tells Ironic.
import type { Drive, Ironic } from '@slipway/fleet/hosts';
import { isIronicError } from './ironic/ironic-error.ts';

export type Look = { readonly drive: Drive; readonly driveProblem: null } | { drive: null; driveProblem: string };

/** Asked twice: a BMC in the middle of a change says one thing and then another, and neither counts. */
export async function look(ironic: Ironic, uuid: string, signal: AbortSignal): Promise<Look> {
  try {
    const first = await ironic.drive(uuid, signal);
    const second = await ironic.drive(uuid, signal);
    if (first.inserted === second.inserted && first.image === second.image)
      return { drive: second, driveProblem: null };
    return { drive: null, driveProblem: `it was said to hold ${said(first)}, and a moment later ${said(second)}` };
  } catch (error) {
    signal.throwIfAborted();
    if (!isIronicError(error)) throw error;
    return { drive: null, driveProblem: `${error.message} [${error.code}]` };
  }
}

const said = ({ inserted, image }: Drive): string => (inserted ? image : 'nothing');
