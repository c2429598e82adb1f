// What an update changes in the OS of a machine: its image, kernel and packages.
import { type Spec, usesExtensionsImage } from './settings.ts';
import type { Change } from './update-plan.ts';

/** The differences from the booted deployment. Fields that are left out stay unchanged. */
export interface OSChange {
  readonly image?: string;
  /**
   * Removes each of `removed` once, then appends `added`. `all` are those of the configs, for a machine that accepts
   * only the whole set.
   */
  readonly kernelArguments?: {
    readonly removed: readonly string[];
    readonly added: readonly string[];
    readonly all?: { readonly before: readonly string[]; readonly after: readonly string[] };
  };
  /** All desired extensions as the MachineConfig names them (usbguard, kernel-devel, …), and the previous ones. */
  readonly extensions?: { readonly before: readonly string[]; readonly after: readonly string[] };
  readonly kernelType?: { readonly before: string; readonly after: string };
  /** The source of packages for extensions and kernels. '': none is needed. */
  readonly extensionsImage?: string;
}

/**
 * The OS change of an update. For a rollback, pass the rollback's changes and swap the configs. Null: the OS does not
 * change.
 */
export function computeOSChange(changes: readonly Change[], from: Spec, to: Spec): OSChange | null {
  const parts = changes.map((change) => toOSChange(change, from, to));
  const change: OSChange = Object.assign({}, ...parts);
  if (Object.keys(change).length === 0) return null;
  return usesExtensionsImage(from) || usesExtensionsImage(to)
    ? { ...change, extensionsImage: to.baseOSExtensionsContainerImage ?? '' }
    : change;
}

function toOSChange(change: Change, from: Spec, to: Spec): OSChange {
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
      return toExtensionsChange(from, to);
    case 'setting':
      return toSettingChange(change, from, to);
    case 'path':
    case 'unit':
    case 'ssh keys':
    case 'password':
      return {};
  }
}

function toSettingChange(
  { setting, before, after }: Extract<Change, { kind: 'setting' }>,
  from: Spec,
  to: Spec,
): OSChange {
  switch (setting) {
    case 'osImageURL':
      // If the config names no image, the machine keeps its current one.
      return after === '' ? {} : { image: after };
    case 'kernelType':
      return { kernelType: { before, after } };
    case 'baseOSExtensionsContainerImage':
      // The same packages in another version.
      return usesExtensionsImage(to) ? toExtensionsChange(from, to) : {};
    case 'fips':
      return {};
  }
}

function toExtensionsChange(from: Spec, to: Spec): OSChange {
  return { extensions: { before: from.extensions ?? [], after: to.extensions ?? [] } };
}
