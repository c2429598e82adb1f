import {
  type IgnitionClient,
  resolveBuiltIgnition,
  resolveDebianIgnition,
  ToolsError,
} from '@slipway/tools/ignition-client';

/** A client that tests boot machines with, or why this computer cannot. */
export interface ClientUnderTest {
  name: '2.14' | '2.24';
  client?: IgnitionClient;
  missing?: string;
}

const resolvers = { '2.14': resolveDebianIgnition, '2.24': resolveBuiltIgnition };

/** Said aloud where one is missing; its tests are then skipped, which CI counts as a failure. */
export async function resolveClients(names: readonly ClientUnderTest['name'][]): Promise<ClientUnderTest[]> {
  const all: ClientUnderTest[] = [];
  for (const name of names) all.push(await resolve(name));
  for (const { name, missing } of all) {
    if (missing !== undefined) console.error(`no machine is booted with Ignition ${name}: ${missing}`);
  }
  return all;
}

async function resolve(name: ClientUnderTest['name']): Promise<ClientUnderTest> {
  if (process.getuid?.() !== 0) {
    return {
      name,
      missing: 'it gives files to other users, which only root can: run the tests as root in a container',
    };
  }
  try {
    return { name, client: await resolvers[name]() };
  } catch (error) {
    if (!(error instanceof ToolsError) || !isAbsent(error)) throw error;
    return { name, missing: error.message };
  }
}

/** What a computer may do without. A build or a download that fails is a failure. */
const isAbsent = ({ code }: ToolsError): boolean => code === 'SLW_TOOLS_NO_APT' || code === 'SLW_TOOLS_NO_GO';
