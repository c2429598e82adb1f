// What changes of the OS itself: its image, kernel and extensions.
import type { MachineConfig } from '@slipway/api';
import { kernelArgumentsChange } from './kernel-arguments.ts';
import type { Change, ExtensionsChange, SettingChange } from './update-plan.ts';

export type Spec = NonNullable<MachineConfig['spec']>;

/** In the order in which a host makes them: the kernel and packages are those of the new image. */
export function settingChanges(current: Spec, desired: Spec): Change[] {
  const changes = [
    settingChange('osImageURL', current.osImageURL, desired.osImageURL),
    settingChange(
      'baseOSExtensionsContainerImage',
      current.baseOSExtensionsContainerImage,
      desired.baseOSExtensionsContainerImage,
    ),
    kernelArgumentsChange(current.kernelArguments ?? [], desired.kernelArguments ?? []),
    settingChange('kernelType', kernelOf(current), kernelOf(desired)),
    extensionsChange(current.extensions ?? [], desired.extensions ?? []),
    settingChange('fips', String(current.fips ?? false), String(desired.fips ?? false)),
  ];
  return changes.filter((change) => change !== null);
}

/** Packages come from the extensions image only where there are any beside those of the OS image. */
export function usesExtensionsImage(spec: Spec): boolean {
  return kernelOf(spec) !== 'default' || (spec.extensions ?? []).length > 0;
}

function kernelOf({ kernelType }: Spec): string {
  return kernelType === undefined || kernelType === '' ? 'default' : kernelType;
}

function settingChange(setting: SettingChange['setting'], before = '', after = ''): SettingChange | null {
  return before === after ? null : { kind: 'setting', setting, before, after };
}

function extensionsChange(current: readonly string[], desired: readonly string[]): ExtensionsChange | null {
  const removed = [...new Set(current).difference(new Set(desired))].sort();
  const added = [...new Set(desired).difference(new Set(current))].sort();
  return removed.length + added.length === 0 ? null : { kind: 'extensions', removed, added };
}
