import { resolveRegistry, ToolsError } from '@slipway/tools/registry';

/** Whether this computer can have no registry, since it has no apt: its tests are then skipped, which CI counts as a failure. */
export async function isRegistryMissing(): Promise<boolean> {
  try {
    await resolveRegistry();
    return false;
  } catch (error) {
    if (!(error instanceof ToolsError) || error.code !== 'SLW_TOOLS_NO_APT') throw error;
    console.error(`no registry is started: ${error.message}`);
    return true;
  }
}
