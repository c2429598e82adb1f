import { CodedError } from '@slipway/base/coded-error';
import { oneLine } from '@slipway/base/text';

/** Every code the command itself raises, with what it means. docs/errors.md says what to do about each. */
export const commandErrors = {
  SLW_CLI_USAGE: 'the command was called with something it does not understand',
  SLW_CLI_NOT_INSTALLED: 'the cluster lacks CRDs that the controllers need',
  SLW_CLI_NOT_OPERATOR: 'the controllers run as somebody who may not write what they own',
  SLW_CLI_OTHER_OPERATOR: 'a Machine Config Operator runs in this cluster',
  SLW_DATA_IMAGE_OPERATOR: 'another operator looks after the bare-metal hosts of this cluster',
  SLW_CLI_CRD_FOREIGN: 'a CRD of ours is managed by somebody else in this cluster',
  SLW_CLI_CRD_NOT_READY: 'the API server did not take a CRD into service in time',
  SLW_CLI_MANIFEST: 'a manifest that was given with -f cannot be used',
  SLW_CLI_POOL: 'the pool that was asked for is not among the manifests',
  SLW_CLI_NOTHING_SUCH: 'the rendered config has nothing of the name that was asked for',
  SLW_CLI_COMPARE: 'what was given to compare cannot be compared',
  SLW_CLI_PLAN_KIND: 'slipway plan was given an object that it cannot plan for',
  SLW_CLI_PLAN_SOURCE: 'slipway plan does not know which fleet to plan for',
  SLW_CLI_OUT: 'the directory to write to cannot be used',
  SLW_CLI_BOOTSTRAP_INPUT: 'a file or address that slipway bootstrap was given cannot be used',
  SLW_CLI_NO_POOL: 'the cluster has no MachineConfigPool of that name',
  SLW_CLI_NO_NODE: 'the cluster has no Node of that name',
  SLW_CLI_NO_CONFIG: 'the pool has no rendered config that is meant, or several',
  SLW_CLI_NO_ANSWER: 'no controller has answered a request to a pool',
  SLW_CLI_NO_HOST: 'the namespace has no BareMetalHost of that name',
  SLW_CLI_DATA_IMAGE: 'the drive of a host cannot be changed as it was asked for',
  SLW_CLI_DATA_IMAGE_WAIT: 'what was asked of a drive did not come about while it was waited for',
  SLW_CLI_FILE: 'a file that a flag names cannot be used',
  SLW_CLI_STREAM: 'a pool cannot be brought to an OS image stream as things are',
  SLW_CLI_NO_MACHINES: 'the cluster has nothing of that name that makes machines, or several such things',
  SLW_CLI_BOOT_IMAGE: 'a boot image cannot be restored or released as things are',
  SLW_CLI_PIN_IMAGES: 'the images to pin cannot be used as they are given',
  SLW_CLI_PIN_POOL: 'no PinnedImageSet can be made for the pool as it is',
  SLW_CLI_REFUSED: 'the controller refused what was asked of a pool',
  SLW_IGNITION_INPUT: 'a file or a flag of an ignition command cannot be used',
} as const;

export class CommandError extends CodedError<keyof typeof commandErrors> {
  override readonly name = 'CommandError';
}

/** An error that was foreseen carries a code of ours and a message that stands alone. */
export const isExpectedError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.startsWith('SLW_');

/** One line for the user. Only a bug shows more, and only to who asks for it. */
export function failureText(error: unknown, debug: boolean): string {
  if (isExpectedError(error)) return `slipway: ${oneLine(error.message)} [${error.code}]`;
  const message = error instanceof Error ? error.message : String(error);
  const text = `slipway: unexpected: ${oneLine(message)}. This is a bug in slipway; SLIPWAY_DEBUG=1 shows where`;
  return debug && error instanceof Error ? `${text}\n${error.stack ?? ''}` : text;
}

/** An input that cannot be used at all; the message is one line for the user. */
export class InputError extends Error {
  readonly code = 'SLW_IGNITION_INPUT';
}

/** Longer names are compared by their beginnings. */
const MAX_COMPARED = 120;
const MAX_NAMES = 3;

/** Those that `asked` may have been meant for, the nearest first. */
export function nearNames(asked: string, names: Iterable<string>): string[] {
  const farthest = Math.max(2, Math.floor(asked.length / 4));
  return [...new Set(names)]
    .map((name) => ({ name, distance: computeDistance(asked, name) }))
    .filter(({ distance }) => distance <= farthest)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, MAX_NAMES)
    .map(({ name }) => name);
}

/** None at all for a name that holds what was asked for; else how many letters must change. */
function computeDistance(asked: string, name: string): number {
  if (asked.length >= 3 && name.includes(asked)) return 0;
  const [a, b] = [asked.slice(0, MAX_COMPARED), name.slice(0, MAX_COMPARED)];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
