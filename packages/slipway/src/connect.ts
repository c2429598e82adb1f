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
