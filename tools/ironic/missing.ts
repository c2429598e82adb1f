import { ToolsError } from '../controlplane/errors.ts';
import { resolveIronic } from './environment.ts';

/** Whether this computer has no Python for Ironic: then its tests are skipped, which CI counts as a failure. */
export async function isIronicMissing(): Promise<boolean> {
  try {
    await resolveIronic();
    return false;
  } catch (error) {
    if (!(error instanceof ToolsError) || error.code !== 'SLW_TOOLS_NO_PYTHON') throw error;
    console.error(`Ironic is not started: ${error.message} [${error.code}]`);
    return true;
  }
}
