// Copies of customised stubs that we made and that nothing refers to any more go. Not at once: a machine that is being made may
// still ask for one. How long nobody has referred to it is not written down: after a restart it only takes longer.
import { clusterApiMachineSets, machineDeployments, machineSets, type Secret, secrets } from '@slipway/api';
import { isCollectableCopy, clusterApiUserDataOf, userDataSecretOf } from '@slipway/fleet/boot-images';
import {
  again,
  type Context,
  type ControllerDef,
  done,
  isKubeError,
  type KubeObject,
  nameOf,
  type Read,
  type Resource,
  type Source,
  type Stored,
} from '@slipway/kube';
import {
  clusterApiMachineSetSource,
  machineDeploymentSource,
  machineSetSource,
  type Placed,
  stubSource,
} from './boot-image-reads.ts';
import { bootImagesGate, type BootImagesOptions } from './options.ts';

export const UNUSED_MS = 60 * 60_000;
const byUserData = 'user-data';

/** One for each API: where there is no Cluster API, its kinds are never read. */
export const collectCopiesControllers = (options: BootImagesOptions): ControllerDef[] => [
  controllerOf('boot-images-stub-copies', options.machineApiNamespace, [
    referring(machineSetSource(options.machineApiNamespace), userDataSecretOf),
  ]),
  controllerOf('boot-images-capi-stub-copies', options.clusterApiNamespace, [
    referring(clusterApiMachineSetSource(options.clusterApiNamespace), clusterApiUserDataOf),
    referring(machineDeploymentSource(options.clusterApiNamespace), clusterApiUserDataOf),
  ]),
];

interface Referring {
  readonly source: Source;
  isReferredTo(this: void, secret: string, read: Read): boolean;
}

function referring<T extends KubeObject>(source: Placed<T>, nameIn: (machines: T) => string | null): Referring {
  const namesIn = (machines: T): string[] => [nameIn(machines) ?? ''];
  const own: Source<T> = {
    ...source,
    indexes: { [byUserData]: namesIn },
    keysOf: (machines) => namesIn(machines).map((name) => `${source.namespace}/${name}`),
  };
  return { source: own, isReferredTo: (secret, read) => read(source.resource).hasIndexed(byUserData, secret) };
}

function controllerOf(name: string, namespace: string, kinds: readonly Referring[]): ControllerDef {
  const unusedSince = new Map<string, number>();
  return {
    name,
    gate: bootImagesGate,
    reads: [stubSource(namespace), ...kinds.map(({ source }) => source)],
    owns: [{ resource: secrets }],
    async reconcile(key, context) {
      const { read, now } = context;
      const secret = read(secrets).get(key);
      const isUsed = kinds.some(({ isReferredTo }) => isReferredTo(nameOf(key).name, read));
      if (secret === undefined || isUsed || !isCollectableCopy(secret.metadata)) {
        unusedSince.delete(key);
        return done();
      }
      const since = unusedSince.get(key) ?? now().getTime();
      unusedSince.set(key, since);
      const wait = since + UNUSED_MS - now().getTime();
      if (wait > 0) return again(wait);
      if (!(await isReferredToNow(secret.metadata.name, namespace, context))) await remove(secret, context);
      return done();
    },
  };
}

/** Asked for, not out of a cache, and of both APIs, whose namespaces may be one. */
async function isReferredToNow(secret: string, namespace: string, { client, signal }: Context): Promise<boolean> {
  const all = async <T extends KubeObject>(resource: Resource<T>): Promise<Stored<T>[]> => {
    try {
      return await Array.fromAsync(client.list(resource, { namespace, signal }));
    } catch (error) {
      if (!isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED')) throw error;
      return [];
    }
  };
  const names = [
    ...(await all(machineSets)).map(userDataSecretOf),
    ...(await all(clusterApiMachineSets)).map(clusterApiUserDataOf),
    ...(await all(machineDeployments)).map(clusterApiUserDataOf),
  ];
  return names.includes(secret);
}

async function remove({ metadata }: Stored<Secret>, { client, log }: Context): Promise<void> {
  const { uid, resourceVersion } = metadata;
  await client.delete(secrets, metadata, { uid, resourceVersion }).catch((error: unknown) => {
    if (!isKubeError(error, 'SLW_KUBE_NOT_FOUND')) throw error;
  });
  log.info({ secret: metadata.name }, 'removed the copy of a customised stub that nobody refers to');
}
