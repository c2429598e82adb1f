import { createGoldenReader } from '@slipway/fleet/boot-images';
import type { ControllerDef } from '@slipway/kube';
import { goldenConfigController } from './boot-image-config-controller.ts';
import { clusterApiControllers } from './cluster-api-controller.ts';
import { collectCopiesControllers, collectTemplatesController } from './garbage-collection.ts';
import { machineSetsController } from './machine-set-controller.ts';
import { createVerdictBoard, reportController } from './report-controller.ts';
import type { BootImagesOptions } from './sources.ts';

/** Everything that is only about boot images. The managed stubs that machines start with are in provisioning/. */
export function bootImagesControllers(options: BootImagesOptions): ControllerDef[] {
  const { namespace, controllerVersion, board = createVerdictBoard() } = options;
  const shared = { namespace, board, golden: createGoldenReader(controllerVersion) };
  return [
    goldenConfigController(options),
    machineSetsController(options, shared),
    ...clusterApiControllers(options, shared),
    collectTemplatesController(options),
    ...collectCopiesControllers(options),
    reportController(options, board),
  ];
}
