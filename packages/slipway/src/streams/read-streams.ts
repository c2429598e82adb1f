// What a cluster says of OS image streams. Nothing here writes.
import { clusterVersions, featureGates, type OSImageStream, osImageStreams } from '@slipway/api';
import { resolveFeatureGates } from '@slipway/fleet';
import { type Client, isKubeError, type KubeObject, type Resource } from '@slipway/kube';
import type { StreamsReport } from './streams-report.ts';

/** There is one, of this name. */
export const osImageStreamName = 'cluster';

export const findOsImageStream = (client: Client): Promise<OSImageStream | undefined> =>
  findWhereKnown(client, osImageStreams, osImageStreamName);

/** Null: the cluster has no FeatureGate, so it is for its controllers' flags to say. */
export async function readGate(client: Client): Promise<StreamsReport['gate']> {
  const featureGate = await findWhereKnown(client, featureGates, 'cluster');
  if (featureGate === undefined) return null;
  const clusterVersion = await findWhereKnown(client, clusterVersions, 'version');
  const { on, because } = resolveFeatureGates({ featureGate, clusterVersion, flags: {} }).OSStreams;
  return { isOn: on, because };
}

/** A kind that the cluster does not have counts as an object that is not there. */
async function findWhereKnown<T extends KubeObject>(
  client: Client,
  resource: Resource<T>,
  name: string,
): Promise<T | undefined> {
  try {
    return await client.find(resource, { name });
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED')) throw error;
    return undefined;
  }
}
