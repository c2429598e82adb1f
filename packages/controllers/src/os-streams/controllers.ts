import type { ControllerDef } from '@slipway/kube';
import type { OsStreamsOptions } from './options.ts';
import { osStreamsController } from './os-streams.ts';
import { poolStreamsController } from './pool-streams.ts';
import { keepRegistry } from './registry-of.ts';
import { turnedOffController } from './turned-off.ts';
import { upgradeableController } from './upgradeable.ts';

/** All that has to do with OS image streams and no more than that. Render and rollout follow what these write. */
export function osStreamsControllers(options: OsStreamsOptions): ControllerDef[] {
  const registries = keepRegistry(options.registry);
  return [
    osStreamsController(options, registries),
    poolStreamsController(options, registries),
    upgradeableController(options.gates),
    turnedOffController(options.gates),
  ];
}
