import { createTransport, findAccess } from '@slipway/kube';
import type { Transport, TransportOptions } from '@slipway/kube';
import { version } from './version.ts';

export interface ClusterOptions {
  kubeconfig?: string;
  context?: string;
}

export async function connect(options: ClusterOptions, more: TransportOptions = {}): Promise<Transport> {
  const access = await findAccess(options);
  return createTransport(access, { userAgent: `slipway/${version}`, ...more });
}

/** Where a cluster is and by which CA it is known: what a new machine needs to join it, credentials apart. */
export async function whereIs(options: ClusterOptions): Promise<{ server: string; ca: string | undefined }> {
  const { server, ca } = await findAccess(options);
  return { server, ca };
}
