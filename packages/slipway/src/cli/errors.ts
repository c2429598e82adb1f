import { CodedError } from '@slipway/base/coded-error';
import { maskSecrets } from '@slipway/base/masking';
import { oneLine } from '@slipway/base/text';
import { safeText } from './terminal.ts';

/** Every code that the command itself raises, with its meaning. docs/errors.md explains what to do about each. */
export const commandErrors = {
  SLW_CLI_USAGE: 'an argument or flag of the command is invalid',
  SLW_CLI_NOT_INSTALLED: 'the cluster lacks CRDs that the controllers need',
  SLW_CLI_NOT_OPERATOR: 'the identity of the controllers may not write the objects that they own',
  SLW_CLI_OTHER_OPERATOR: 'a Machine Config Operator runs in this cluster',
  SLW_DATA_IMAGE_OPERATOR: 'another operator manages the bare-metal hosts of this cluster',
  SLW_CLI_CRD_FOREIGN: 'another field manager owns one of our CRDs in this cluster',
  SLW_CLI_CRD_NOT_READY: 'the API server did not establish a CRD in time',
  SLW_CLI_MANIFEST: 'a manifest passed with -f is invalid',
  SLW_CLI_FOREIGN: 'a file is the input of another tool, or nothing in Slipway acts on an object',
  SLW_CLI_POOL: 'the requested pool is not in the manifests',
  SLW_CLI_NOTHING_SUCH: 'the rendered config has no setting of the requested name',
  SLW_CLI_COMPARE: 'the two inputs cannot be compared',
  SLW_CLI_PLAN_KIND: 'slipway plan does not support an object in the manifests',
  SLW_CLI_PLAN_SOURCE: 'slipway plan does not know which fleet to plan for',
  SLW_CLI_OUT: 'the output directory cannot be used',
  SLW_CLI_BOOTSTRAP_INPUT: 'a file or address passed to slipway bootstrap is invalid',
  SLW_CLI_NO_POOL: 'the cluster has no MachineConfigPool of that name',
  SLW_CLI_NO_NODE: 'the cluster has no Node of that name',
  SLW_CLI_NO_CONFIG: 'no rendered config of the pool matches, or several do',
  SLW_CLI_NO_ANSWER: 'no controller has answered a request to a pool',
  SLW_CLI_NO_HOST: 'the namespace has no BareMetalHost of that name',
  SLW_CLI_DATA_IMAGE: 'the DataImage of a host cannot be changed as requested',
  SLW_CLI_DATA_IMAGE_WAIT: 'a DataImage did not reach the requested state before the timeout',
  SLW_CLI_FILE: 'a file passed with a flag cannot be used',
  SLW_CLI_STREAM: 'a pool cannot be migrated to an OS image stream',
  SLW_CLI_NO_MACHINES: 'no machine resource of the cluster has that name, or several do',
  SLW_CLI_BOOT_IMAGE: 'a boot image cannot be restored or released',
  SLW_CLI_PIN_IMAGES: 'the list of images to pin is invalid',
  SLW_CLI_PIN_POOL: 'no PinnedImageSet can be created for the pool',
  SLW_CLI_REFUSED: 'the controller refused a request to a pool',
  SLW_IGNITION_INPUT: 'a file or flag of an ignition command cannot be used',
} as const;

export class CommandError extends CodedError<keyof typeof commandErrors> {
  override readonly name = 'CommandError';
}

/** Expected errors carry one of our codes, and their message needs no stack trace. */
export const isExpectedError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('SLW_');

/** One line for the user. A bug adds its stack trace, and only when debugging. */
export const failureText = (error: unknown, debug: boolean): string =>
  safeText(maskSecrets(describeFailure(error, debug)));

function describeFailure(error: unknown, debug: boolean): string {
  if (isExpectedError(error)) return `slipway: ${oneLine(error.message)} [${error.code}]`;
  const message = error instanceof Error ? error.message : String(error);
  const text = `slipway: unexpected: ${oneLine(message)}. This is a bug in slipway. Set SLIPWAY_DEBUG=1 for the stack trace`;
  return debug && error instanceof Error ? `${text}\n${error.stack ?? ''}` : text;
}

/** An input that cannot be read at all. The message is one line for the user. */
export class InputError extends Error {
  readonly code = 'SLW_IGNITION_INPUT';
}
