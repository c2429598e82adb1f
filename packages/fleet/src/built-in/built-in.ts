import { builtInLabel, generatedByAnnotation, roleLabel } from '@slipway/api';
import type { MachineConfig } from '@slipway/api';
import { daemonUnit, firstBootUnit, pullUnit } from './units.ts';

/** The roles that every fleet has; machines of other pools are workers first. */
export const builtInRoles = ['master', 'worker'] as const;

export type BuiltInMachineConfig = MachineConfig & { spec: NonNullable<MachineConfig['spec']> };

export interface BuiltInOptions {
  /** Version of the program that makes them. */
  controllerVersion: string;
  /** The image that machines take our program from. Left out: it is on the machines already. */
  daemonImage?: string | undefined;
}

/** The operator's own MachineConfigs: the base that users' are merged over. */
export function builtInMachineConfigs({ controllerVersion, daemonImage }: BuiltInOptions): BuiltInMachineConfig[] {
  const units = [
    ...(daemonImage === undefined
      ? []
      : [{ name: 'machine-config-daemon-pull.service', enabled: true, contents: pullUnit(daemonImage) }]),
    { name: 'machine-config-daemon-firstboot.service', enabled: true, contents: firstBootUnit },
    { name: 'machine-config-daemon.service', enabled: true, contents: daemonUnit },
  ];
  return builtInRoles.map((role) => ({
    metadata: {
      name: `00-${role}`,
      labels: { [roleLabel]: role, [builtInLabel]: '' },
      annotations: { [generatedByAnnotation]: controllerVersion },
    },
    spec: { config: { ignition: { version: '3.5.0' }, systemd: { units } } },
  }));
}
