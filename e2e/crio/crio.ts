import { type CrioParts, resolveCrio, startCrio, ToolsError } from '@slipway/tools/crio';
import type { NodesUnderTest } from '../node/nodes.ts';

/** What tests start a real CRI-O from, or why this computer cannot. */
export interface CrioUnderTest {
  parts?: CrioParts;
  missing?: string;
}

/** Said aloud where there can be none; its tests are then skipped, which CI counts as a failure. */
export async function resolveCrioUnderTest(nodes: NodesUnderTest): Promise<CrioUnderTest> {
  const found = await resolve(nodes);
  if (found.missing !== undefined) console.error(`no real CRI-O is run: ${found.missing}`);
  return found;
}

async function resolve({ parts: node, missing }: NodesUnderTest): Promise<CrioUnderTest> {
  // It runs on the disk of a node.
  if (node === undefined) return { missing: missing ?? 'no test node can be made here' };
  try {
    const parts = { programs: await resolveCrio(), image: node.image };
    // A computer may refuse what only CRI-O asks for, such as a bind mount; one that starts and then fails is a failure.
    const trial = await startCrio({ name: 'trial', ...parts });
    await trial.stop();
    return { parts };
  } catch (error) {
    if (!(error instanceof ToolsError) || error.code !== 'SLW_TOOLS_NO_NODES') throw error;
    return { missing: error.message };
  }
}
