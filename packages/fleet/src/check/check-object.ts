import {
  checkMetadata,
  dataImages,
  findRefusals,
  findUnknownFields,
  type Kind,
  kinds,
  machineConfigKind,
  machineConfigPoolKind,
  type Problem,
  type UnknownField,
  validate,
} from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import { nearNames } from '@slipway/base/near-names';
import { readMachineConfig } from '../render/input.ts';
import type { RenderProblem } from '../render/problem.ts';
import { selectorProblems } from '../render/select.ts';
import { machineConfigWarnings, poolWarnings } from './warnings.ts';

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

/** The whole verdict. Null: Slipway has no such kind, or only reads another version of it. */
export async function checkObject(value: unknown): Promise<CheckedObject | null> {
  if (isOfKind(machineConfigKind, value)) {
    return checkBoth(judge(machineConfigKind, value), async (object) => {
      const read = await readMachineConfig(object);
      if (!read.ok) return asFindings('error', read.problems);
      return [...asFindings('warning', read.input.warnings), ...machineConfigWarnings(object, read.input)];
    });
  }
  if (isOfKind(machineConfigPoolKind, value)) {
    return checkBoth(judge(machineConfigPoolKind, value), async (object) => [
      ...asFindings('error', selectorProblems(object)),
      ...poolWarnings(object),
    ]);
  }
  const kind = kinds.find((each) => isOfKind(each, value));
  return kind === undefined || (isOnlyRead(kind) && !hasKnownVersion(kind, value)) ? null : checkShape(kind, value);
}

/**
 * Others ship the CRD and act on the objects, so the cluster decides what they may contain. Slipway acts on DataImages
 * itself.
 */
const isOnlyRead = ({ install, kind }: Kind): boolean => install !== 'own' && kind !== dataImages.kind;

const hasKnownVersion = ({ group, versions }: Kind, value: unknown): boolean =>
  isRecord(value) && versions.some(({ name }) => value['apiVersion'] === `${group}/${name}`);

/** Only what kube-apiserver refuses, for those who read the content themselves. */
export const checkShape = <T>(kind: Kind<T>, value: unknown): CheckedObject<T> => conclude(judge(kind, value));

/** Whether the object is of this kind, in any version. */
export function isOfKind({ group, kind }: Kind, value: unknown): boolean {
  if (!isRecord(value) || value['kind'] !== kind) return false;
  const { apiVersion } = value;
  return typeof apiVersion === 'string' && apiVersion.startsWith(`${group}/`);
}

/** `object` is set if the schema holds, even if there are other errors. */
function judge<T>(kind: Kind<T>, value: unknown): CheckedObject<T> {
  const name = describeObject(kind, value);
  const checked = validateWithoutStatus(kind, value);
  const refusals = checked.ok && !isStored(value) ? findRefusals(kind, checked.object) : [];
  const asErrors = (problems: readonly Problem[]) => problems.map((problem) => toFinding('error', name, problem));
  const findings = [
    ...checkFields(kind, name, value),
    ...asErrors(checkMetadata(kind, value)),
    ...(checked.ok ? [] : checkSchema(kind, name, value, checked.problems)),
    ...asErrors(refusals),
    ...checkScope(kind, name, value),
  ];
  return { kind, name, object: checked.ok ? checked.object : null, findings };
}

const conclude = <T>(checked: CheckedObject<T>): CheckedObject<T> =>
  checked.findings.some(({ severity }) => severity === 'error') ? { ...checked, object: null } : checked;

/** What the API server refuses, then what the content is refused for in other fields. */
async function checkBoth<T>(
  shape: CheckedObject<T>,
  checkContent: (object: T) => Promise<Finding[]>,
): Promise<CheckedObject<T>> {
  const content = shape.object === null ? [] : await checkContent(shape.object);
  const known = new Set(shape.findings.map(({ field }) => field));
  return conclude({ ...shape, findings: [...shape.findings, ...content.filter(({ field }) => !known.has(field))] });
}

/** kube-apiserver drops the status of a new object before it validates the values. */
function validateWithoutStatus<T>(kind: Kind<T>, value: unknown) {
  const checked = validate(kind, value);
  if (checked.ok || !isRecord(value) || !kind.versions.some(({ status }) => status === true)) return checked;
  const { status: _, ...rest } = value;
  return validate(kind, rest);
}

/**
 * Whether a cluster has stored the object: a policy that judges changes admits it, and its CRD can be newer than ours.
 */
const isStored = (value: unknown): boolean => metadataIn(value)['resourceVersion'] !== undefined;

const metadataIn = (value: unknown): Record<string, unknown> =>
  isRecord(value) && isRecord(value['metadata']) ? value['metadata'] : {};

function checkSchema(kind: Kind, name: string, value: unknown, problems: readonly Problem[]): Finding[] {
  if (isOnlyRead(kind) && isStored(value)) return [];
  const severity = isOnlyRead(kind) ? 'warning' : 'error';
  // `checkMetadata` judges the name.
  return problems.filter(({ path }) => path !== 'metadata.name').map((problem) => toFinding(severity, name, problem));
}

function checkFields(kind: Kind, name: string, value: unknown): Finding[] {
  const unknown = findUnknownFields(kind, value);
  if (!isOnlyRead(kind)) return isStored(value) ? findNewer(name, unknown) : findWrong(name, unknown);
  if (isStored(value)) return [];
  const inMetadata = unknown.filter(({ path }) => /^metadata\b/.test(path));
  return [...findWrong(name, inMetadata), ...findMisspelt(name, unknown)];
}

const findWrong = (name: string, unknown: readonly UnknownField[]): Finding[] =>
  unknown.map((field) =>
    toFinding('error', name, { path: field.path, message: `unknown field; ${suggestField(field)}` }),
  );

const findNewer = (name: string, unknown: readonly UnknownField[]): Finding[] =>
  unknown
    .filter(({ path }) => !/^status\b/.test(path))
    .map(({ path }) => {
      const message = 'unknown field; it is ignored, because the CRD of the cluster can be newer';
      return toFinding('warning', name, { path, message });
    });

/** Our copy of the CRD has less than that of the cluster, so only a field that resembles one of ours is reported. */
const findMisspelt = (name: string, unknown: readonly UnknownField[]): Finding[] =>
  unknown.flatMap((field) => {
    const near = suggestNear(field);
    if (near === null || /^(metadata|status)\b/.test(field.path)) return [];
    return [toFinding('warning', name, { path: field.path, message: `unknown field; ${near}` })];
  });

/** More fields than this are not listed. */
const MAX_LISTED = 12;

/** What to write instead of a field that the kind does not have. */
function suggestField(field: UnknownField): string {
  const { name, parent, siblings, elsewhere } = field;
  const near = suggestNear(field);
  if (near !== null) return near;
  if (elsewhere.length > 0) return `${name} belongs under ${elsewhere.slice(0, 2).join(' or ')}`;
  const short = findAbbreviated(name, siblings).map((sibling) => join(parent, sibling));
  if (short.length > 0) return `did you mean ${short.join(' or ')}?`;
  if (siblings.length === 0 || siblings.length > MAX_LISTED) return 'remove it';
  return `remove it. The fields here are ${siblings.toSorted().join(', ')}`;
}

/** Null: the name resembles no field. */
function suggestNear({ name, parent, siblings }: UnknownField): string | null {
  const near = findNear(name, siblings).map((sibling) => join(parent, sibling));
  return near.length > 0 ? `did you mean ${near.join(' or ')}?` : null;
}

const join = (parent: string, name: string): string => (parent === '' ? name : `${parent}.${name}`);

function findNear(name: string, siblings: readonly string[]): string[] {
  const lower = siblings.map((sibling) => sibling.toLowerCase());
  const asked = name.toLowerCase();
  const near = lower.includes(asked) ? [asked] : nearNames(asked, lower).slice(0, 2);
  return siblings.filter((sibling) => near.includes(sibling.toLowerCase()));
}

/** Fields whose letters contain those of the name in its order, as kernelArguments contains kernelArgs. */
const findAbbreviated = (name: string, siblings: readonly string[]): string[] =>
  name.length < 4 ? [] : siblings.filter((sibling) => containsInOrder(sibling, name)).slice(0, 2);

function containsInOrder(long: string, short: string): boolean {
  let at = 0;
  for (const letter of long.toLowerCase()) if (letter === short[at]?.toLowerCase()) at += 1;
  return at === short.length;
}

function checkScope({ kind, namespaced }: Kind, name: string, value: unknown): Finding[] {
  const { namespace } = metadataIn(value);
  if (namespaced || typeof namespace !== 'string' || namespace === '') return [];
  const message = `has no effect, because a ${kind} belongs to no namespace; remove it`;
  return [toFinding('warning', name, { path: 'metadata.namespace', message })];
}

function toFinding(severity: Finding['severity'], object: string, { path, message }: Problem): Finding {
  const place = path === '' ? object : `${object}, ${path}`;
  return { severity, code: 'SLW_CLI_MANIFEST', object, field: path, message: `${place}: ${message}` };
}

const asFindings = (severity: Finding['severity'], problems: readonly RenderProblem[]): Finding[] =>
  problems.map((problem) => ({ severity, ...problem }));

function describeObject({ kind }: Kind, value: unknown): string {
  const { name } = metadataIn(value);
  return typeof name === 'string' && name !== '' ? `${kind} ${name.slice(0, 253)}` : kind;
}
