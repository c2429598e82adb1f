import type { Gates } from '@slipway/kube';
import type { MakeRegistry } from './registry-of.ts';
import type { RetryTimes } from './retry-pace.ts';
import type { SourceOptions } from './stream-reads.ts';

export interface OsStreamsOptions extends SourceOptions {
  readonly controllerVersion: string;
  /** How registries are spoken to; `registryWith` makes it. */
  readonly registry: MakeRegistry;
  /** The Secret with the cluster's pull secret, in its key .dockerconfigjson. */
  readonly pullSecret?: { readonly namespace: string; readonly name: string } | undefined;
  /** The same as the manager has: what streams have left behind goes when their gate is turned off. */
  readonly gates: Gates;
  readonly retry?: RetryTimes | undefined;
}

export const usualPullSecret = { namespace: 'openshift-config', name: 'pull-secret' } as const;
