import { ToolsError } from '../controlplane/errors.ts';
import { resolveIronic } from './environment.ts';

/** Whether this computer can have no Ironic, since it has no Python for it: its tests are then skipped, which CI counts as a failure. */
export async function isIronicMissing(): Promise<boolean> {
  try {
    await resolveIronic();
    return false;
  } catch (error) {
    if (!(error instanceof ToolsError) || error.code !== 'SLW_TOOLS_NO_PYTHON') throw error;
    console.error(`no Ironic is started: ${error.message} [${error.code}]`);
    return true;
  }
}
