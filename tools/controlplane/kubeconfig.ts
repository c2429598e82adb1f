import { stringify } from 'yaml';
import type { Identity } from './certificates.ts';

/** A self-contained kubeconfig: it can be copied anywhere on this machine. */
export function kubeconfig(options: { url: string; ca: string; user: string; identity: Identity }): string {
  const { url, ca, user, identity } = options;
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'slipway', cluster: { server: url, 'certificate-authority-data': base64(ca) } }],
      users: [
        {
          name: user,
          user: {
            'client-certificate-data': base64(identity.certificate),
            'client-key-data': base64(identity.key),
          },
        },
      ],
      contexts: [{ name: 'slipway', context: { cluster: 'slipway', user } }],
      'current-context': 'slipway',
    },
    { lineWidth: 0 },
  );
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
