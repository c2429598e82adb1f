import type { Explained } from '@slipway/fleet';

/** Fields of a MachineConfig by which users know settings. */
const NOUN_OF_FIELD: Readonly<Record<string, string>> = {
  kernelArguments: 'kernel argument',
  extensions: 'extension',
  kernelType: 'kernel type',
  fips: 'FIPS mode',
  osImageURL: 'OS image',
  baseOSExtensionsContainerImage: 'OS extensions image',
};

/** What a person means by a path: a thing of that name with what belongs to it, a directory, or all of a field. */
export function selectThings(things: readonly Explained[], asked: string): Explained[] {
  return things.filter((thing) => isMeant(thing, asked));
}

function isMeant({ noun, name }: Explained, asked: string): boolean {
  const user = /^sshkey:(.+)$/.exec(asked)?.[1];
  if (user !== undefined) return noun === 'ssh key' && name.startsWith(`${user} `);
  if (asked.startsWith('/') && asked.endsWith('/')) return name.startsWith(asked);
  if (noun === NOUN_OF_FIELD[asked]) return true;
  // A unit with its drop-ins, a user with the keys.
  return name === asked || name.startsWith(`${asked}.d/`) || (noun === 'ssh key' && name.startsWith(`${asked} `));
}
