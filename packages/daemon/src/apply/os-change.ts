// What an update asks of the OS itself, in either direction: for the way back, the changes of the way back and the configs
// exchanged.
import type { Change } from '@slipway/fleet';
import type { Deployment, OSChange } from '../host/host.ts';
import type { StoredConfig } from '../stored-config.ts';

type Spec = StoredConfig['spec'];

/** Null: nothing of the OS changes. */
export function osChangeOf(changes: readonly Change[], from: Spec, to: Spec): OSChange | null {
  const parts = changes.map((change) => partOf(change, from, to));
  const change: OSChange = Object.assign({}, ...parts);
  if (Object.keys(change).length === 0) return null;
  return usesPackages(from) || usesPackages(to)
    ? { ...change, extensionsImage: to.baseOSExtensionsContainerImage ?? '' }
    : change;
}

function partOf(change: Change, from: Spec, to: Spec): OSChange {
  switch (change.kind) {
    case 'kernel arguments':
      return {
        kernelArguments: {
          removed: change.removed,
          added: change.added,
          all: { before: change.before, after: change.after },
        },
      };
    case 'extensions':
      return extensionsOf(from, to);
    case 'setting':
      return settingOf(change, from, to);
    case 'path':
    case 'unit':
    case 'ssh keys':
    case 'password':
      return {};
  }
}

function settingOf({ setting, before, after }: Extract<Change, { kind: 'setting' }>, from: Spec, to: Spec): OSChange {
  switch (setting) {
    case 'osImageURL':
      // A config that names no image leaves the machine the one it has.
      return after === '' ? {} : { image: after };
    case 'kernelType':
      return { kernelType: { before, after } };
    case 'baseOSExtensionsContainerImage':
      // The same packages, of another version.
      return usesPackages(to) ? extensionsOf(from, to) : {};
    case 'fips':
      return {};
  }
}

function extensionsOf(from: Spec, to: Spec): OSChange {
  return { extensions: { before: from.extensions ?? [], after: to.extensions ?? [] } };
}

function usesPackages({ extensions = [], kernelType = '' }: Spec): boolean {
  return extensions.length > 0 || (kernelType !== '' && kernelType !== 'default');
}

/** Two deployments with the same mark are the same to a machine. */
export function markOf({ image, digest, version, checksum = '', kernelArguments, packages }: Deployment): string {
  return JSON.stringify([image, digest, version, checksum, kernelArguments, packages]);
}
