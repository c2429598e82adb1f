// A cluster with Slipway installed and no controllers running: the test is all of them.
import { machineConfigPools, osImageStreams, osStreamAnnotation } from '@slipway/api';
import { type Client, isKubeError, type KubeObject, type Resource } from '@slipway/kube';
import { startTestCluster } from '@slipway/testing/control-plane';
import { resolveBinaries } from '@slipway/tools/controlplane';
import { run } from '@slipway/tools/run';
import { expect } from 'vitest';

export const streamsName = { name: 'cluster' };

export interface PoolFacts {
  /** spec.osImageStream */
  asks?: string;
  /** The annotation of the controllers. */
  tracked?: string;
  /** status.osImageStream */
  runs?: string;
}

export interface GuardedCluster {
  /** In system:masters, as the administrator of most clusters is. */
  admin: Client;
  controllers: Client;
  /** Somebody who may do everything as far as permissions go, so that only policies can say no. */
  clientOf(user: string, ...groups: string[]): Promise<Client>;
  /** As the administrator. */
  kubectl: (...args: string[]) => Promise<string>;
  /** Makes a pool as the controllers would have left it, and returns its name. */
  poolThat(facts: PoolFacts): Promise<string>;
  /** What the controllers have found in the payload. */
  setStreams(names: readonly string[]): Promise<unknown>;
  dataDir: string;
  stop(): Promise<void>;
}

export async function startGuardedCluster(): Promise<GuardedCluster> {
  const { controlPlane, admin, operator: controllers, clientFor, stop } = await startTestCluster();
  const { kubectl } = await resolveBinaries(['kubectl']);
  let made = 0;
  return {
    admin,
    controllers,
    dataDir: controlPlane.dataDir,
    clientOf: (user, ...groups) => clientFor({ user, groups: [...groups, 'system:masters'] }),
    kubectl: (...args) => run(kubectl, ['--kubeconfig', controlPlane.kubeconfig, ...args]),
    poolThat: async ({ asks, tracked, runs }) => {
      const name = `pool-${++made}`;
      const annotations = { ...(tracked !== undefined && { [osStreamAnnotation]: tracked }) };
      await controllers.create(machineConfigPools, { metadata: { name, annotations }, spec: specWith(asks) });
      if (runs !== undefined) await patchStatus(controllers, name, { status: { osImageStream: { name: runs } } });
      return name;
    },
    setStreams: (names) => {
      const status = { defaultStream: names[0], availableStreams: names.map(buildStream) };
      const patch = { type: 'merge', body: { status } } as const;
      return controllers.patch(osImageStreams, streamsName, patch, {}, { subresource: 'status' });
    },
    stop,
  };
}

const image = `registry.example.com/os/image@sha256:${'0'.repeat(64)}`;
const buildStream = (name: string) => ({ name, osImage: image, osExtensionsImage: image });

const selector = { machineConfigSelector: { matchLabels: { 'machineconfiguration.openshift.io/role': 'worker' } } };

export const specWith = (stream: string | undefined) => ({
  ...selector,
  ...(stream !== undefined && { osImageStream: { name: stream } }),
});

interface Trial {
  dryRun?: boolean;
}

export const patchPool = (client: Client, name: string, body: object, { dryRun }: Trial = {}): Promise<unknown> =>
  client.patch(machineConfigPools, { name }, { type: 'merge', body }, {}, { dryRun });

export const patchStatus = (client: Client, name: string, body: object): Promise<unknown> =>
  client.patch(machineConfigPools, { name }, { type: 'merge', body }, {}, { subresource: 'status' });

export const requestStream = (client: Client, pool: string, stream: string | null, trial?: Trial): Promise<unknown> =>
  patchPool(client, pool, { spec: { osImageStream: stream === null ? null : { name: stream } } }, trial);

export const annotate = (
  client: Client,
  pool: string,
  annotations: Record<string, string | null>,
  trial?: Trial,
): Promise<unknown> => patchPool(client, pool, { metadata: { annotations } }, trial);

/** A pool that would be new. */
export const tryNew = (
  client: Client,
  name: string,
  stream?: string,
  annotations: Record<string, string> = {},
): Promise<unknown> =>
  client.create(machineConfigPools, { metadata: { name, annotations }, spec: specWith(stream) }, { dryRun: true });

export const deleteAll = (
  client: Client,
  { group, version, plural }: Resource,
  { dryRun, labelSelector }: Trial & { labelSelector?: string } = {},
) =>
  client.transport.json({
    method: 'DELETE',
    path: `/apis/${group}/${version}/${plural}`,
    query: { ...(dryRun === true && { dryRun: 'All' }), ...(labelSelector !== undefined && { labelSelector }) },
    what: `delete all ${plural}`,
    retry: 'never',
  });

/** Gives an object an owner that does not exist: garbage collection would delete it. */
export function own<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  name: { name: string },
  { dryRun }: Trial = {},
): Promise<unknown> {
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'gone', uid: '00000000-0000-4000-8000-000000000000' };
  const body = { metadata: { ownerReferences: [owner] } };
  return client.patch(resource, name, { type: 'merge', body }, {}, { dryRun });
}

/** By this policy, with words that begin so. */
export async function expectRefused(request: Promise<unknown>, policy: string, words = ''): Promise<void> {
  const answer: unknown = await request.then(
    () => 'it passed',
    (error: unknown) => error,
  );
  expect(String(answer)).toContain(
    `ValidatingAdmissionPolicy '${policy}' with binding '${policy}' denied request: ${words}`,
  );
  expect(isKubeError(answer, 'SLW_KUBE_FORBIDDEN')).toBe(true);
}
