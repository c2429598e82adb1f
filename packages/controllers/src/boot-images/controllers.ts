import { createGoldenReader } from '@slipway/fleet/boot-images';
import type { ControllerDef } from '@slipway/kube';
import { clusterApiControllers } from './cluster-api.ts';
import { collectCopiesControllers } from './collect-copies.ts';
import { collectTemplatesController } from './collect-templates.ts';
import { goldenConfigController } from './golden-config.ts';
import { machineSetsController } from './machine-sets.ts';
import type { BootImagesOptions } from './options.ts';
import { reportController } from './report.ts';
import { createVerdictBoard } from './verdict-board.ts';

/** All that has to do with boot images and no more than that. The managed stubs that machines are started with are kept elsewhere. */
export function bootImagesControllers(options: BootImagesOptions): ControllerDef[] {
  const { namespace, controllerVersion, board = createVerdictBoard() } = options;
  const shared = { namespace, board, golden: createGoldenReader(controllerVersion) };
  return [
    goldenConfigController(options),
    machineSetsController(options, shared),
    ...clusterApiControllers(options, shared),
    collectTemplatesController(options),
    ...collectCopiesControllers(options),
    reportController(options, shared),
  ];
}
