import { secrets } from '@slipway/api';
import { serverSecrets, untilDue } from '@slipway/fleet';
import { again, type ControllerDef, type Source } from '@slipway/kube';
import { firstBootOptions, type FirstBootSettings } from '../provisioning/options.ts';
import { readInfrastructure, serverAddress } from '../provisioning/server-address.ts';
import { authorityDue, keepAuthority } from './keep-authority.ts';
import { keepServing } from './keep-serving.ts';

const certificates = 'certificates';

/**
 * Keeps the CA and the certificate of the machine config server. The CA's Secret is the truth and is written first;
 * the certificate follows from it. Stopped between the two, the server goes on with a certificate of the CA before,
 * which every stub still trusts.
 *
 * Secrets are read live and watched by their metadata only: they change a few times a year, and no cache of ours then
 * holds the key of the CA.
 */
export function certificatesController(settings: FirstBootSettings): ControllerDef {
  const options = firstBootOptions(settings);
  const { namespace } = options;
  const watch = (name: string): Source => ({
    resource: secrets,
    as: 'metadata',
    namespace,
    fieldSelector: `metadata.name=${name}`,
    keysOf: () => [certificates],
  });
  return {
    name: certificates,
    reads: [watch(serverSecrets.authority), watch(serverSecrets.serving)],
    owns: [{ resource: secrets }],
    startsWith: [certificates],
    async reconcile(_, context) {
      const authority = await keepAuthority(context, namespace, options.authority);
      const address = serverAddress(options, await readInfrastructure(context.client));
      let due = authorityDue(authority, context.now().getTime(), options.authority);
      if (address === undefined) {
        context.log.warn(
          'the machine config server gets no certificate: nobody has said where it is (--server-url), and there is no Infrastructure cluster with an apiServerInternalURI',
        );
      } else {
        due = Math.min(due, await keepServing(context, namespace, authority, address.hosts, options.serving));
      }
      return again(untilDue(due, context.now()));
    },
  };
}
