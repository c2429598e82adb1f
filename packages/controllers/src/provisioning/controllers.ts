import { firstBootOptions, type FirstBootSettings } from '@slipway/fleet';
import type { ControllerDef } from '@slipway/kube';
import { bootstrapKubeconfigController } from './bootstrap-kubeconfig-controller.ts';
import { stubsController } from './stubs-controller.ts';
import { tokensController } from './tokens-controller.ts';

/** Everything a new machine is given to find, believe and be let in by the machine config server, and to join with. */
export function provisioningControllers(settings: FirstBootSettings): ControllerDef[] {
  const options = firstBootOptions(settings);
  return [tokensController(options), stubsController(options), bootstrapKubeconfigController(options)];
}
