// An OS that is not image-based, for example Debian. The daemon manages its files and units, but not the OS.
import type { OSChange } from '../host.ts';
import { readCommandLine } from './deployment.ts';
import { OSFailure } from './os-commands.ts';
import type { ChangingOS } from './staging.ts';

export function createPlainOS(commandLine: () => Promise<string>): ChangingOS {
  return {
    async state() {
      const kernelArguments = readCommandLine(await commandLine());
      return { booted: { image: '', digest: '', version: '', kernelArguments, packages: [] }, staged: null };
    },

    async stage(change) {
      const fields = changedFields(change);
      if (fields.length === 0) return;
      throw new OSFailure(
        'unsupported',
        `${fields.join(', ')} cannot be changed on this machine`,
        'expected an image-based OS managed by rpm-ostree or bootc, found neither.',
      );
    },

    discard: async () => undefined,
  };
}

function changedFields({ image, kernelArguments, extensions, kernelType }: OSChange): string[] {
  const changes = { osImageURL: image, kernelArguments, extensions, kernelType };
  return Object.entries(changes).flatMap(([field, value]) => (value === undefined ? [] : [`spec.${field}`]));
}
