// MachineConfigs that no pool selects: the API server accepts them, and no machine ever gets them.
import { builtInLabel, generatedByAnnotation, type MachineConfigPool, RENDERED_PREFIX, ROLE_LABEL } from '@slipway/api';
import { nearNames } from '@slipway/base/near-names';
import { count, listNames, quote } from '@slipway/base/text';
import { formatProblem } from '../problems.ts';
import { nameOfMachineConfig, problemAt } from '../render/problem.ts';
import { selectsMachineConfig } from '../render/select.ts';
import type { Finding } from './check-object.ts';

/** A MachineConfig without its contents. */
export interface LabelledMachineConfig {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

export interface SelectingPool {
  readonly metadata: { readonly name: string };
  readonly spec: Pick<MachineConfigPool['spec'], 'machineConfigSelector'>;
}

const MAX_NAMES = 10;

/**
 * One warning for each MachineConfig that none of the pools selects. `pools` are all pools of the cluster, including
 * the default ones. MachineConfigs of controllers are left out: users cannot change their labels.
 */
export function unselectedMachineConfigs(
  machineConfigs: Iterable<LabelledMachineConfig>,
  pools: readonly SelectingPool[],
): Finding[] {
  const roles = listRoles(pools);
  return [...machineConfigs]
    .filter((each) => isOfUser(each) && !pools.some((pool) => selectsMachineConfig(pool, each)))
    .map(({ metadata }) => describeUnselected(metadata, roles));
}

function describeUnselected(metadata: Metadata, roles: readonly string[]): Finding {
  const { field, text } = explain(metadata, roles);
  const unused = 'no pool selects this MachineConfig, so no machine gets it';
  const object = nameOfMachineConfig(metadata.name);
  return { severity: 'warning', ...problemAt('SLW_RENDER_UNSELECTED', object, field, `${unused}; ${text}`) };
}

/** One line for each, at most ten. */
export function formatUnselected(findings: readonly Finding[]): string[] {
  const lines = findings.slice(0, MAX_NAMES).map(formatProblem);
  const more = findings.length - lines.length;
  return more === 0 ? lines : [...lines, `no pool selects ${count(more, 'more MachineConfig')} either`];
}

type Metadata = LabelledMachineConfig['metadata'];

const isOfUser = ({ metadata: { name, labels, annotations } }: LabelledMachineConfig): boolean =>
  !name.startsWith(RENDERED_PREFIX) &&
  labels?.[builtInLabel] === undefined &&
  annotations?.[generatedByAnnotation] === undefined;

/** The values of the role label that selectors of the pools require. */
function listRoles(pools: readonly SelectingPool[]): string[] {
  const roles = pools.flatMap(
    ({ spec: { machineConfigSelector: { matchLabels = {}, matchExpressions = [] } = {} } }) => [
      ...(Object.hasOwn(matchLabels, ROLE_LABEL) ? [matchLabels[ROLE_LABEL] ?? ''] : []),
      ...matchExpressions
        .filter(({ key, operator }) => key === ROLE_LABEL && operator === 'In')
        .flatMap(({ values = [] }) => values),
    ],
  );
  return [...new Set(roles)].sort();
}

const ROLE_FIELD = `metadata.labels["${ROLE_LABEL}"]`;
/** Which field is wrong, and what to write instead. */
function explain(
  { labels = {}, annotations = {} }: Metadata,
  roles: readonly string[],
): { field: string; text: string } {
  const expected = `a role that a pool selects (${listNames(roles, { max: MAX_NAMES, none: 'none' })})`;
  const role = labels[ROLE_LABEL];
  if (role !== undefined && roles.includes(role)) {
    const text = `the pools of role ${role} require other labels as well: compare with their spec.machineConfigSelector`;
    return { field: 'metadata.labels', text };
  }
  if (role !== undefined) {
    return { field: ROLE_FIELD, text: `expected ${expected}, found ${quote(role)}. ${suggestRole(role, roles)}` };
  }
  const annotated = annotations[ROLE_LABEL];
  if (annotated !== undefined) {
    const text = `the role must be a label, and is an annotation: move it to ${ROLE_FIELD}`;
    return { field: `metadata.annotations["${ROLE_LABEL}"]`, text };
  }
  const keys = Object.keys(labels).sort();
  const found = keys.length === 0 ? 'no labels' : `only the labels ${listNames(keys, { max: MAX_NAMES })}`;
  const meant = suggestLabel(labels, keys, roles);
  return {
    field: 'metadata.labels',
    text: `expected the label ${ROLE_LABEL} with ${expected}, found ${found}${meant}`,
  };
}

function suggestRole(role: string, roles: readonly string[]): string {
  const near = nearNames(role, roles);
  return near.length > 0
    ? `Did you mean ${near.join(' or ')}?`
    : 'Correct the role, or create a MachineConfigPool that selects it';
}

/** The label of Nodes, in which the role is part of the key. */
const NODE_ROLE = 'node-role.kubernetes.io/';

function suggestLabel(
  labels: Readonly<Record<string, string>>,
  keys: readonly string[],
  roles: readonly string[],
): string {
  const ofNodes = keys.find((key) => key.startsWith(NODE_ROLE));
  const misspelt = keys.find((key) => nearNames(key, [ROLE_LABEL]).length > 0);
  const role = misspelt === undefined ? ofNodes?.slice(NODE_ROLE.length) : labels[misspelt];
  const near = role === undefined ? undefined : nearNames(role, roles)[0];
  return near === undefined ? '' : `. Did you mean ${ROLE_LABEL}: ${near}?`;
}
