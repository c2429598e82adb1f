// Runs the controllers against a cluster until SIGTERM or Ctrl-C, after the checks that must pass first.
import { once } from 'node:events';
import { type Clock, systemClock } from '@slipway/base/clock';
import { CONTROLLER_ACCOUNT, dataImages, DEFAULT_NAMESPACE, kinds, machineConfigs, poolLabel } from '@slipway/api';
import type { FeatureGateSettings } from '@slipway/fleet';
import {
  createClient,
  createLog,
  isKubeError,
  type KubeObject,
  type Log,
  type LogLevel,
  type Resource,
  type Stored,
  type Transport,
} from '@slipway/kube';
import { CommandError } from '../cli/errors.ts';
import type { IronicFlags, RegistryAccessFlags } from '../cli/options.ts';
import { type ClusterOptions, connect, stopSignal, whereIs } from '../cli/program.ts';
import { registryOptions } from '../cli/registry.ts';
import { type ControllerSettings, type IronicSettings, ironicSettings, runControllers } from './controllers.ts';

export interface ControllerOptions
  extends ClusterOptions, Omit<ControllerSettings, 'registry' | 'ironic'>, RegistryAccessFlags, IronicFlags {
  namespace: string;
  featureGates?: FeatureGateSettings;
  leaderElect: boolean;
  logLevel: LogLevel;
  probes: { host: string; port: number };
}

export async function runController(options: ControllerOptions): Promise<void> {
  const log = createLog({ name: 'slipway', level: options.logLevel });
  const { registriesConf, registryCa, plainHttp } = options;
  const registry = await registryOptions({ registriesConf, registryCa, plainHttp });
  const ironic = await ironicSettings(options);
  const kubernetes = await checkOnce(options, ironic);
  const transport = await connect(options);
  log.info({ server: transport.server, kubernetes }, 'connected');
  const stop = stopSignal();
  const running = await runControllers({
    transport,
    namespace: options.namespace,
    featureGates: options.featureGates ?? {},
    settings: { ...options, connection: await whereIs(options), registry, ironic },
    log,
    electionTransport: options.leaderElect ? await connect(options) : undefined,
    probes: options.probes,
  });
  const check = async () => {
    await checkAlone(transport);
    if (ironic !== undefined) await checkHosts(transport, ironic.besideOperator);
  };
  const refusal = await Promise.race([
    stop.aborted ? null : once(stop, 'abort').then(() => null),
    untilRefused(check, { signal: stop, log }),
  ]);
  log.info(refusal === null ? { signal: stop.reason as unknown } : { code: refusal.code }, 'stopping');
  await running.stop();
  if (refusal !== null) throw refusal;
}

/** A list of all Deployments is no request to repeat often. */
const OPERATORS_MS = 5 * 60_000;

/** Repeats a check that passed at the start: another operator may be installed later. Null: stopped before. */
export async function untilRefused(
  check: () => Promise<void>,
  { signal, log, clock = systemClock }: { signal: AbortSignal; log: Pick<Log, 'warn'>; clock?: Clock },
): Promise<CommandError | null> {
  while (!signal.aborted) {
    await clock.sleep(OPERATORS_MS, signal).catch(() => {});
    if (signal.aborted) break;
    try {
      await check();
    } catch (error) {
      if (error instanceof CommandError) return error;
      log.warn({ err: error }, 'cannot check whether another operator runs in this cluster; retrying in 5 minutes');
    }
  }
  return null;
}

/** Without retries: a wrong setup fails immediately. Running controllers wait for an API server to return. */
async function checkOnce(options: ControllerOptions, ironic: IronicSettings | undefined): Promise<string> {
  const transport = await connect(options, { retryForMs: 0 });
  try {
    const { kubernetes } = await preflight(transport);
    await checkAlone(transport);
    await checkIdentity(transport, options.namespace);
    if (ironic !== undefined) await checkHosts(transport, ironic.besideOperator);
    return kubernetes;
  } finally {
    await transport.close();
  }
}

/**
 * The checks before controllers start. They run once without retries, so that a wrong kubeconfig is one clear line and
 * not an endless retry.
 */
export async function preflight(transport: Transport): Promise<{ kubernetes: string }> {
  const kubernetes = await serverVersion(transport);
  const missing = await missingKinds(transport);
  if (missing.length > 0) {
    throw new CommandError(
      'SLW_CLI_NOT_INSTALLED',
      `${transport.server} does not serve ${missing.join(', ')}. Install the CRDs first, with: slipway install`,
    );
  }
  return { kubernetes };
}

async function serverVersion(transport: Transport): Promise<string> {
  const answer = await transport.json({
    method: 'GET',
    path: '/version',
    what: 'get the server version',
    retry: 'never',
  });
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
      what: `list the kinds of ${api}`,
      retry: 'never',
    });
    const { resources = [] } = answer as { resources?: { name: string }[] };
    return new Set(resources.map((resource) => resource.name));
  } catch (error) {
    if (isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED', 'SLW_KUBE_NOT_FOUND')) return new Set();
    throw error;
  }
}

/** Our admission policies allow only the controllers' identity. Any other would be refused at every render. */
export async function checkIdentity(transport: Transport, namespace: string): Promise<void> {
  const name = `rendered-preflight-${'0'.repeat(32)}`;
  const object = { metadata: { name, labels: { [poolLabel]: 'preflight' } } };
  try {
    await createClient(transport).create(machineConfigs, object, { dryRun: true });
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_FORBIDDEN')) throw error;
    throw new CommandError(
      'SLW_CLI_NOT_OPERATOR',
      `the user of this kubeconfig is not allowed to write rendered MachineConfigs (${error.message}). Run the controllers as ServiceAccount ${namespace}/${CONTROLLER_ACCOUNT} with that permission or, to try things out, as a member of the group slipway:break-glass`,
      { cause: error },
    );
  }
}

/** Two operators that render the same pools would undo each other's changes. */
export async function checkAlone(transport: Transport): Promise<void> {
  const other = { namespace: DEFAULT_NAMESPACE, name: 'machine-config-operator' };
  const found = await createClient(transport).find(deployments, other);
  if (found === undefined || found.spec?.replicas === 0) return;
  throw new CommandError(
    'SLW_CLI_OTHER_OPERATOR',
    `a Machine Config Operator runs in this cluster (Deployment ${other.namespace}/${other.name}, replicas: ${found.spec?.replicas ?? 1}). Two operators would undo each other's changes. Scale it to zero first`,
  );
}

/** The fields that are read: whether it runs, and its ServiceAccount. */
export interface Deployment extends KubeObject {
  spec?: { replicas?: number; template?: { spec?: { serviceAccountName?: string } } };
}

export const deployments: Resource<Deployment> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};

const SHARED_HOSTS_FLAG = '--data-images-beside-operator';

/** Two operators that power the same hosts, or change the same drives, would undo each other's changes. */
export async function checkHosts(transport: Transport, besideOperator: boolean): Promise<void> {
  for (const operator of await runningOperators(transport)) {
    const { namespace = '', name } = operator.metadata;
    const where = `a baremetal-operator runs in this cluster (Deployment ${namespace}/${name})`;
    if (!besideOperator) {
      throw new CommandError(
        'SLW_DATA_IMAGE_OPERATOR',
        `${where}. Two operators would undo each other's changes. Scale it to zero, or run with ${SHARED_HOSTS_FLAG} and let it manage the hosts`,
      );
    }
    if (await mayWriteDataImages(transport, operator)) {
      throw new CommandError(
        'SLW_DATA_IMAGE_OPERATOR',
        `${where} and manages DataImages too: its ServiceAccount may write dataimages/status. Leave --ironic-url out, or revoke that permission`,
      );
    }
  }
}

async function runningOperators(transport: Transport): Promise<Stored<Deployment>[]> {
  const found: Stored<Deployment>[] = [];
  for await (const each of createClient(transport).list(deployments)) {
    if (isHostsOperator(each.metadata.name) && each.spec?.replicas !== 0) found.push(each);
  }
  return found;
}

/** baremetal-operator-controller-manager, metal3-baremetal-operator; the cluster-baremetal-operator only installs it. */
const isHostsOperator = (name: string): boolean =>
  /(^|-)baremetal-operator($|-)/.test(name) && !name.startsWith('cluster-baremetal-operator');

/** Asks the API server, so that every role and binding counts. */
async function mayWriteDataImages(transport: Transport, { metadata, spec }: Stored<Deployment>): Promise<boolean> {
  const { namespace = '' } = metadata;
  const account = spec?.template?.spec?.serviceAccountName ?? 'default';
  const verdicts = await Promise.all(
    ['update', 'patch'].map(async (verb) => {
      const body = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: {
          user: `system:serviceaccount:${namespace}:${account}`,
          groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
          resourceAttributes: { group: dataImages.group, resource: dataImages.plural, subresource: 'status', verb },
        },
      };
      const answer = await transport.json({
        method: 'POST',
        path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        what: `check whether ServiceAccount ${namespace}/${account} may write DataImages`,
        retry: 'never',
        body,
      });
      return (answer as { status?: { allowed?: boolean } }).status?.allowed === true;
    }),
  );
  return verdicts.includes(true);
}
