// What a cluster says of OS image streams. Nothing here writes.
import { type OSImageStream, osImageStreams } from '@slipway/api';
import type { Client } from '@slipway/kube';
import { findWhereKnown } from '../cluster-view/find-where-known.ts';

/** There is one, of this name. */
export const osImageStreamName = 'cluster';

export const findOsImageStream = (client: Client): Promise<OSImageStream | undefined> =>
  findWhereKnown(client, osImageStreams, { name: osImageStreamName });
