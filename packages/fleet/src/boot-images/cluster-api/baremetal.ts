import { fieldAt, objectAt, textAt } from '../json-path.ts';
import { machineApi } from '../platforms/baremetal.ts';
import { badTemplate, type TemplateRule, verdictOfView } from './template-rule.ts';

/** The address and checksum of an image, or the way the OS of the payload is written. Its format stays: v1beta2 calls it diskFormat. */
export const clusterApi: TemplateRule = (spec, question) => {
  const method = textAt(spec, 'customDeploy', 'method');
  const url = textAt(spec, 'image', 'url');
  if (method === '' && !URL.canParse(url))
    return badTemplate('image.url', 'the address of an image', fieldAt(spec, 'image', 'url'));
  const view = {
    plural: 'metal3machinetemplates',
    rule: machineApi,
    providerSpec: { customDeploy: { method }, image: objectAt(spec, 'image') },
    // Left out, the kind of checksum is md5.
    changed: (after: Parameters<typeof objectAt>[0]) => ({
      image: { ...objectAt(after, 'image'), checksumType: 'sha256' },
    }),
    imported: () => ({ customDeploy: { method: 'install_coreos' }, image: null }),
  };
  return verdictOfView(spec, view, question);
};
