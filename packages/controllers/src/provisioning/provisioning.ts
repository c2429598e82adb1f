import type { ControllerDef } from '@slipway/kube';
import { bootstrapKubeconfigController } from './bootstrap-kubeconfig.ts';
import { firstBootOptions } from './options.ts';
import type { FirstBootSettings } from './options.ts';
import { stubsController } from './stubs.ts';
import { tokensController } from './tokens.ts';

/** Everything a new machine is given to find, believe and be let in by the machine config server, and to join with. */
export function provisioningControllers(settings: FirstBootSettings): ControllerDef[] {
  const options = firstBootOptions(settings);
  return [tokensController(options), stubsController(options), bootstrapKubeconfigController(options)];
}
