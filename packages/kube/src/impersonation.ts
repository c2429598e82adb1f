import type { Impersonated, Transport } from './transport.ts';

/**
 * The same connections in the name of somebody else, for who may impersonate: many identities need no more than one
 * connection. Who impersonates keeps the transport: closing this one closes nothing.
 */
export function impersonating(transport: Transport, as: Impersonated): Transport {
  return {
    server: transport.server,
    json: (request) => transport.json({ ...request, as }),
    open: (request) => transport.open({ ...request, as }),
    close: async () => {},
  };
}
