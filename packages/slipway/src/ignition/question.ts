// A line of a batch, understood or not.
import { isRecord } from '@slipway/base/json';
import { isSpecVersion, type SpecVersion } from '@slipway/ignition';
import { DEFAULT_TARGET, isSpec3 } from './combine.ts';

const OPERATIONS = ['parse', 'validate', 'translate', 'merge'] as const;
export type Operation = (typeof OPERATIONS)[number];

export interface Question {
  op: Operation;
  configs: (string | object)[];
  /** Undefined where nothing is translated. */
  to: SpecVersion | undefined;
}

/** Expected: what is wrong with the line, as a sentence for the one who wrote it. */
class NotUnderstood extends Error {}

export function readQuestion(value: unknown): Question | string {
  try {
    const { op, configs, to } = readObject(value);
    const operation = readOperation(op);
    return { op: operation, configs: readConfigs(operation, configs), to: readTarget(operation, to) };
  } catch (failure) {
    if (failure instanceof NotUnderstood) return failure.message;
    throw failure;
  }
}

function readObject(value: unknown): Partial<Record<string, unknown>> {
  if (isRecord(value)) return value;
  throw new NotUnderstood('the line is not a JSON object');
}

function readOperation(op: unknown): Operation {
  const known = OPERATIONS.find((each) => each === op);
  if (known !== undefined) return known;
  throw new NotUnderstood(`op must be one of ${OPERATIONS.map((each) => `"${each}"`).join(', ')}`);
}

function readConfigs(op: Operation, configs: unknown): (string | object)[] {
  if (!Array.isArray(configs) || !configs.every(isConfig)) {
    throw new NotUnderstood('configs must be a list of configs, each an object or a string of exact bytes');
  }
  if (op === 'merge' && configs.length === 0) throw new NotUnderstood('merge takes at least one config, found none');
  if (op !== 'merge' && configs.length !== 1)
    throw new NotUnderstood(`${op} takes one config, found ${configs.length}`);
  return configs;
}

function isConfig(value: unknown): value is string | object {
  return typeof value === 'string' || (typeof value === 'object' && value !== null);
}

function readTarget(op: Operation, to: unknown): SpecVersion | undefined {
  if (op === 'parse' || op === 'validate') return undefined;
  const wanted = to === undefined && op === 'merge' ? DEFAULT_TARGET : to;
  if (typeof wanted !== 'string' || !isSpecVersion(wanted)) {
    throw new NotUnderstood(`${op}: "to" must be a known spec version, such as "3.5.0"`);
  }
  if (op === 'merge' && !isSpec3(wanted)) throw new NotUnderstood('merge: "to" must be a 3.x spec version');
  return wanted;
}
