import {
  type NodeImage,
  type NspawnProgram,
  resolveNodeImage,
  resolveNspawn,
  makeNode,
  ToolsError,
} from '@slipway/tools/nspawn';

/** What tests make nodes with a real systemd from, or why this computer cannot. */
export interface NodesUnderTest {
  parts?: { image: NodeImage; nspawn: NspawnProgram };
  missing?: string;
}

/** Said aloud where there can be none; their tests are then skipped, which CI counts as a failure. */
export async function resolveNodes(): Promise<NodesUnderTest> {
  const found = await resolve();
  if (found.missing !== undefined) console.error(`no node with a real systemd is booted: ${found.missing}`);
  return found;
}

async function resolve(): Promise<NodesUnderTest> {
  if (process.getuid?.() !== 0) {
    return {
      missing: 'it needs namespaces and mounts, which only root may make: run the tests as root in a container',
    };
  }
  try {
    const parts = { image: await resolveNodeImage(), nspawn: await resolveNspawn() };
    // A computer may refuse mounts or cgroups; a node that can be mounted and then does not boot is a failure.
    const trial = await makeNode({ name: 'trial', ...parts });
    await trial.stop();
    return { parts };
  } catch (error) {
    if (!(error instanceof ToolsError) || !isAbsent(error)) throw error;
    return { missing: error.message };
  }
}

/** What a computer may do without. A build or a download that fails is a failure. */
const isAbsent = ({ code }: ToolsError): boolean => code === 'SLW_TOOLS_NO_APT' || code === 'SLW_TOOLS_NO_NODES';
