import { kinds } from '@slipway/api';
import { isKubeError } from '@slipway/kube';
import type { Transport } from '@slipway/kube';
import { CommandError } from './errors.ts';

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
