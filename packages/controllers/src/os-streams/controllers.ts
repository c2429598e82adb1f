import type { ControllerDef } from '@slipway/kube';
import type { OsStreamsOptions } from './options.ts';
import { poolStreamsController } from './pool-streams-controller.ts';
import { keepRegistry } from './registry.ts';
import { osStreamsController } from './streams-controller.ts';
import { upgradeableController } from './upgradeable-controller.ts';

/** All that has to do with OS image streams and no more than that. Render and rollout follow what these write. */
export function osStreamsControllers(options: OsStreamsOptions): ControllerDef[] {
  const registries = keepRegistry(options.registry);
  return [
    osStreamsController(options, registries),
    poolStreamsController(options, registries),
    upgradeableController(options.gates),
  ];
}
