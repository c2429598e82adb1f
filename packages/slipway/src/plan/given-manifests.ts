// What `slipway plan` is given with -f: objects that people apply, and nothing else.
import {
  machineConfigKind,
  machineConfigPoolKind,
  type MachineConfiguration,
  machineConfigurationKind,
  renderedPrefix,
  validate,
} from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import { type CodedProblem, ProblemList } from '@slipway/fleet';
import type { AppliedManifests } from '@slipway/fleet/plan';
import type { ManifestDocument } from '../manifests/documents.ts';
import { collectManifests, headerOf } from '../manifests/fleet-manifests.ts';

const CLUSTER = 'cluster';
const PLANNED = [machineConfigKind, machineConfigPoolKind, machineConfigurationKind];

/** Throws for objects of other kinds: nobody may believe that they were planned for. */
export function appliedManifests(
  documents: readonly ManifestDocument[],
  problems: readonly string[] = [],
): AppliedManifests {
  const collected = collectManifests(documents);
  const settings = settingsIn(documents);
  const wrong: CodedProblem[] = [
    ...[...problems, ...(collected.ok ? [] : collected.problems), ...(settings.ok ? [] : settings.problems)].map(
      (message) => ({ code: 'SLW_CLI_MANIFEST', message }),
    ),
    ...documents.flatMap(refusalOf),
    ...(documents.length + problems.length === 0 ? [NOTHING] : []),
  ];
  if (wrong.length > 0 || !collected.ok || !settings.ok) throw new ProblemList(wrong);
  const { machineConfigs, pools } = collected.manifests;
  return { machineConfigs, pools, settings: settings.object };
}

const NOTHING: CodedProblem = {
  code: 'SLW_CLI_MANIFEST',
  message:
    'the manifests of -f hold no object; expected a MachineConfig, MachineConfigPool or MachineConfiguration in .yaml, .yml or .json files',
};

function refusalOf({ place, value }: ManifestDocument): CodedProblem[] {
  const { group, kind } = headerOf(value);
  const name = nameIn(value);
  if (!PLANNED.some((each) => each.group === group && each.kind === kind)) {
    return [
      {
        code: 'SLW_CLI_PLAN_KIND',
        message: `${place}: ${kind}${name === '' ? '' : ` ${name}`}: expected ${PLANNED.map((each) => each.kind).join(', ')} of the groups ${machineConfigKind.group} and ${machineConfigurationKind.group}; what other objects lead to is not planned, so leave them out`,
      },
    ];
  }
  if (kind !== machineConfigKind.kind || !name.startsWith(renderedPrefix)) return [];
  return [
    {
      code: 'SLW_CLI_PLAN_KIND',
      message: `${place}: MachineConfig ${name} is a rendered one: the render controller alone writes it. Give the MachineConfigs that it is made from`,
    },
  ];
}

function nameIn(value: unknown): string {
  const metadata = isRecord(value) && isRecord(value['metadata']) ? value['metadata'] : {};
  return typeof metadata['name'] === 'string' ? metadata['name'] : '';
}

type Settings = { ok: true; object: MachineConfiguration | undefined } | { ok: false; problems: string[] };

/** The MachineConfiguration `cluster`, of which there is one. */
export function settingsIn(documents: readonly ManifestDocument[]): Settings {
  const { group, kind } = machineConfigurationKind;
  const found = documents.filter(({ value }) => headerOf(value).group === group && headerOf(value).kind === kind);
  const problems = found.flatMap(({ place, value }, index) => {
    const name = nameIn(value);
    if (name !== CLUSTER) return [`${place}: ${kind} ${name}: expected the name ${CLUSTER}; no other is looked at`];
    const first = found.findIndex((other) => nameIn(other.value) === name);
    if (first !== index) return [`${place}: ${kind} ${name} is already in ${found[first]?.place ?? ''}; leave one out`];
    const checked = validate(machineConfigurationKind, value);
    return checked.ok
      ? []
      : checked.problems.map(({ path, message }) => `${place}: ${kind} ${name}: ${path}: ${message}`);
  });
  if (problems.length > 0) return { ok: false, problems };
  const [only] = found;
  const checked = only === undefined ? undefined : validate(machineConfigurationKind, only.value);
  return { ok: true, object: checked?.ok === true ? checked.object : undefined };
}
