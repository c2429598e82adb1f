// Whether a part of Slipway runs in a cluster, as the cluster says it. Nothing here writes.
import { clusterVersions, featureGates } from '@slipway/api';
import { type FeatureGateName, type GateFinding, resolveFeatureGates } from '@slipway/fleet';
import type { Client } from '@slipway/kube';
import { findWhereKnown } from './find-where-known.ts';

/** Null: the cluster has no FeatureGate, so it is for its controllers' flags to say. */
export async function readGate(client: Client, name: FeatureGateName): Promise<GateFinding | null> {
  const featureGate = await findWhereKnown(client, featureGates, { name: 'cluster' });
  if (featureGate === undefined) return null;
  const clusterVersion = await findWhereKnown(client, clusterVersions, { name: 'version' });
  const { on, because } = resolveFeatureGates({ featureGate, clusterVersion, flags: {} })[name];
  return { isOn: on, because };
}
