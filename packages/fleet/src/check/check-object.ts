import {
  type Kind,
  kinds,
  type MachineConfig,
  machineConfigKind,
  type MachineConfigPool,
  machineConfigPoolKind,
  validate,
} from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import { readMachineConfig } from '../render/input.ts';
import type { RenderProblem } from '../render/problem.ts';
import { selectorProblems } from '../render/select.ts';

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

export interface CheckedObject {
  readonly kind: Kind;
  /** Such as `MachineConfig 99-worker-chrony`. */
  readonly name: string;
  /** As kube-apiserver would store it; null if it would refuse it. */
  readonly object: unknown;
  readonly findings: readonly Finding[];
}

/** Null: Slipway has no such kind. */
export async function checkObject(value: unknown): Promise<CheckedObject | null> {
  const kind = kinds.find((each) => isOfKind(each, value));
  if (kind === undefined) return null;
  const name = describeObject(kind, value);
  const checked = validate(kind, value);
  if (!checked.ok) {
    const findings = checked.problems.map(({ path, message }): Finding => {
      const text = `${name}${path === '' ? '' : `, ${path}`}: ${message}`;
      return { severity: 'error', code: 'SLW_CLI_MANIFEST', object: name, field: path, message: text };
    });
    return { kind, name, object: null, findings };
  }
  return { kind, name, object: checked.object, findings: await checkContent(kind, checked.object) };
}

/** What the schema does not say. */
async function checkContent(kind: Kind, object: unknown): Promise<Finding[]> {
  if (kind === machineConfigKind) {
    const read = await readMachineConfig(object as MachineConfig);
    return read.ok ? asFindings('warning', read.input.warnings) : asFindings('error', read.problems);
  }
  return kind === machineConfigPoolKind ? asFindings('error', selectorProblems(object as MachineConfigPool)) : [];
}

const asFindings = (severity: Finding['severity'], problems: readonly RenderProblem[]): Finding[] =>
  problems.map((problem) => ({ severity, ...problem }));

function isOfKind({ group, kind, versions }: Kind, value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { apiVersion } = value;
  return value['kind'] === kind && versions.some(({ name }) => apiVersion === (group === '' ? name : `${group}/${name}`));
}

function describeObject({ kind }: Kind, value: unknown): string {
  const metadata = isRecord(value) && isRecord(value['metadata']) ? value['metadata'] : {};
  return typeof metadata['name'] === 'string' ? `${kind} ${metadata['name'].slice(0, 253)}` : kind;
}
