import { defaultNamespace, kinds, machineConfigs, poolLabel } from '@slipway/api';
import { createClient, isKubeError, type Transport } from '@slipway/kube';
import { CommandError } from './cli/errors.ts';
import { deployments } from './deployments.ts';

/**
 * The questions that must be answered before controllers start, asked once and without patience, so that a wrong
 * kubeconfig is one clear line and not an endless retry.
 */
export async function preflight(transport: Transport): Promise<{ kubernetes: string }> {
  const kubernetes = await serverVersion(transport);
  const missing = await missingKinds(transport);
  if (missing.length > 0) {
    throw new CommandError(
      'SLW_CLI_NOT_INSTALLED',
      `${transport.server} does not serve ${missing.join(', ')}. Install the CRDs first: slipway install`,
    );
  }
  return { kubernetes };
}

async function serverVersion(transport: Transport): Promise<string> {
  const answer = await transport.json({ method: 'GET', path: '/version', what: 'ask for the version', retry: 'never' });
  const { gitVersion } = answer as { gitVersion?: unknown };
  return typeof gitVersion === 'string' ? gitVersion : 'unknown';
}

async function missingKinds(transport: Transport): Promise<string[]> {
  const wanted = kinds
    .filter((kind) => kind.install === 'own')
    .flatMap(({ group, plural, versions }) => versions.map(({ name }) => ({ api: `${group}/${name}`, group, plural })));
  const served = new Map<string, Set<string>>();
  for (const api of new Set(wanted.map((each) => each.api))) served.set(api, await servedBy(transport, api));
  const missing = wanted.filter(({ api, plural }) => served.get(api)?.has(plural) !== true);
  return [...new Set(missing.map(({ plural, group }) => `${plural}.${group}`))];
}

async function servedBy(transport: Transport, api: string): Promise<Set<string>> {
  try {
    const answer = await transport.json({
      method: 'GET',
      path: `/apis/${api}`,
      what: `ask for the kinds of ${api}`,
      retry: 'never',
    });
    const { resources = [] } = answer as { resources?: { name: string }[] };
    return new Set(resources.map((resource) => resource.name));
  } catch (error) {
    if (isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED', 'SLW_KUBE_NOT_FOUND')) return new Set();
    throw error;
  }
}

/** Our admission policies know who the controllers are. Anybody else would be refused at every render. */
export async function checkIdentity(transport: Transport, namespace: string): Promise<void> {
  const name = `rendered-preflight-${'0'.repeat(32)}`;
  const object = { metadata: { name, labels: { [poolLabel]: 'preflight' } } };
  try {
    await createClient(transport).create(machineConfigs, object, { dryRun: true });
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_FORBIDDEN')) throw error;
    throw new CommandError(
      'SLW_CLI_NOT_OPERATOR',
      `the identity of this kubeconfig may not write rendered MachineConfigs (${error.message}). Run the controllers as a ServiceAccount of the namespace ${namespace} that may, or, to try things, as a user in the group slipway:break-glass`,
      { cause: error },
    );
  }
}

/** Two operators that render the same pools would undo each other's work. */
export async function checkAlone(transport: Transport): Promise<void> {
  const other = { namespace: defaultNamespace, name: 'machine-config-operator' };
  const found = await createClient(transport).find(deployments, other);
  if (found === undefined || found.spec?.replicas === 0) return;
  throw new CommandError(
    'SLW_CLI_OTHER_OPERATOR',
    `a Machine Config Operator runs in this cluster (Deployment ${other.namespace}/${other.name}, ${found.spec?.replicas ?? 1} replicas). Two operators would undo each other's work: scale it to zero first`,
  );
}
