import {
  checkMetadata,
  findUnknownFields,
  type Kind,
  kinds,
  machineConfigKind,
  machineConfigPoolKind,
  type Problem,
  validate,
} from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import { readMachineConfig } from '../render/input.ts';
import type { RenderProblem } from '../render/problem.ts';
import { selectorProblems } from '../render/select.ts';
import { suggestField } from './unknown-fields.ts';

/** What is wrong with an object, or may be. */
export interface Finding {
  /** A warning leaves the object valid. */
  readonly severity: 'error' | 'warning';
  readonly code: string;
  /** Such as `MachineConfig 99-worker-chrony`. */
  readonly object: string;
  /** Such as `spec.config.storage.files[3].mode`; '' for the object as a whole. */
  readonly field: string;
  /** Whole sentences: the object, the field, expected and found, what to do. */
  readonly message: string;
}

export interface CheckedObject<T = unknown> {
  readonly kind: Kind<T>;
  /** Such as `MachineConfig 99-worker-chrony`. */
  readonly name: string;
  /** As kube-apiserver would store it; null if there are errors. */
  readonly object: T | null;
  readonly findings: readonly Finding[];
}

/** The whole verdict. Null: Slipway has no such kind. */
export async function checkObject(value: unknown): Promise<CheckedObject | null> {
  if (isOfKind(machineConfigKind, value)) {
    return checkBoth(judge(machineConfigKind, value), async (object) => {
      const read = await readMachineConfig(object);
      return read.ok ? asFindings('warning', read.input.warnings) : asFindings('error', read.problems);
    });
  }
  if (isOfKind(machineConfigPoolKind, value)) {
    return checkBoth(judge(machineConfigPoolKind, value), async (object) =>
      asFindings('error', selectorProblems(object)),
    );
  }
  const kind = kinds.find((each) => isOfKind(each, value));
  return kind === undefined ? null : checkShape(kind, value);
}

/** Only what kube-apiserver refuses, for those who read the content themselves. */
export const checkShape = <T>(kind: Kind<T>, value: unknown): CheckedObject<T> => conclude(judge(kind, value));

/** Whether the object is of this kind, in any version. */
export function isOfKind({ group, kind }: Kind, value: unknown): boolean {
  if (!isRecord(value) || value['kind'] !== kind) return false;
  const { apiVersion } = value;
  return typeof apiVersion === 'string' && apiVersion.startsWith(`${group}/`);
}

/** `object` is set if the schema holds, also if there are other errors. */
const judge = <T>(kind: Kind<T>, value: unknown): CheckedObject<T> => {
  const name = describeObject(kind, value);
  const checked = validateWithoutStatus(kind, value);
  const problems = [...checkMetadata(kind, value), ...(checked.ok ? [] : withoutName(checked.problems))];
  const findings = [...unknownFields(kind, name, value), ...problems.map((problem) => toFinding(name, problem))];
  return {
    kind,
    name,
    object: checked.ok ? checked.object : null,
    findings: [...findings, ...scopeWarning(kind, name, value)],
  };
};

const conclude = <T>(checked: CheckedObject<T>): CheckedObject<T> =>
  checked.findings.some(({ severity }) => severity === 'error') ? { ...checked, object: null } : checked;

async function checkBoth<T>(
  shape: CheckedObject<T>,
  checkContent: (object: T) => Promise<Finding[]>,
): Promise<CheckedObject<T>> {
  const content = shape.object === null ? [] : await checkContent(shape.object);
  return conclude({ ...shape, findings: [...shape.findings, ...content] });
}

/** kube-apiserver drops the status of an object that a user writes before it validates the object. */
function validateWithoutStatus<T>(kind: Kind<T>, value: unknown) {
  const checked = validate(kind, value);
  if (checked.ok || !isRecord(value) || kind.versions.every(({ status }) => status !== true)) return checked;
  const { status: _, ...rest } = value;
  return validate(kind, rest);
}

/** `checkMetadata` reports it. */
const withoutName = (problems: readonly Problem[]): Problem[] =>
  problems.filter(({ path }) => path !== 'metadata.name');

function unknownFields(kind: Kind, name: string, value: unknown): Finding[] {
  const isStored = isRecord(value) && isRecord(value['metadata']) && value['metadata']['resourceVersion'] !== undefined;
  return findUnknownFields(kind, value)
    .filter(({ path }) => !isStored || !/^status\b/.test(path))
    .map((field) => {
      const unknown = isStored
        ? `is not known here and is ignored (the CRD of the cluster can be newer)`
        : 'unknown field';
      return toFinding(
        name,
        { path: field.path, message: `${unknown}; ${suggestField(field)}` },
        isStored ? 'warning' : 'error',
      );
    });
}

function scopeWarning({ kind, namespaced }: Kind, name: string, value: unknown): Finding[] {
  const { metadata } = isRecord(value) ? value : {};
  if (namespaced || !isRecord(metadata) || !metadata['namespace']) return [];
  const message = `has no effect, because a ${kind} belongs to no namespace; remove it`;
  return [toFinding(name, { path: 'metadata.namespace', message }, 'warning')];
}

function toFinding(object: string, { path, message }: Problem, severity: Finding['severity'] = 'error'): Finding {
  const text = `${object}${path === '' ? '' : `, ${path}`}: ${message}`;
  return { severity, code: 'SLW_CLI_MANIFEST', object, field: path, message: text };
}

const asFindings = (severity: Finding['severity'], problems: readonly RenderProblem[]): Finding[] =>
  problems.map((problem) => ({ severity, ...problem }));

function describeObject({ kind }: Kind, value: unknown): string {
  const { metadata } = isRecord(value) ? value : {};
  const name = isRecord(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' && name !== '' ? `${kind} ${name.slice(0, 253)}` : kind;
}
