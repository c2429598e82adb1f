// Reads a fleet from manifests and dumps, without a cluster.
import {
  type MachineConfig,
  machineConfigKind,
  machineConfigPoolKind,
  type MachineConfiguration,
  machineConfigurationKind,
  type Node,
  nodes,
  type Pod,
  type PodDisruptionBudget,
  podDisruptionBudgets,
  pods,
  RENDERED_PREFIX,
  SINGLETON_NAME,
} from '@slipway/api';
import { isRecord } from '@slipway/base/json';
import { type CodedProblem, namedImages, type PlannedConfig, ProblemList, runningIn } from '@slipway/fleet';
import type { AppliedManifests, FleetState, Machines } from '@slipway/fleet/plan';
import type { Stored } from '@slipway/kube';
import type { RenderOptions } from '../cli/options.ts';
import { manifestsIn, readDocuments } from '../manifests/documents.ts';
import { collectManifests, manifestFinding, parseHeader, Shelf } from '../manifests/fleet-manifests.ts';
import {
  errorsIn,
  type ManifestDocument,
  type PlacedFinding,
  placeOf,
  toCodedProblem,
  warningsIn,
} from '../manifests/manifest-document.ts';
import { completeFleet, formatFleetNotes } from '../render/render.ts';

export interface OfflineFleet {
  readonly state: FleetState;
  readonly given: AppliedManifests;
  readonly givenVersions: readonly string[];
  readonly rendered: Machines['rendered'];
  readonly dump: Dump;
  /** What was ignored and what was assumed, one line each. */
  readonly notes: readonly string[];
}

export async function readOffline(
  paths: readonly string[],
  stdin: AsyncIterable<Uint8Array>,
  options: RenderOptions,
): Promise<OfflineFleet> {
  const { documents, findings } = await readDocuments(paths, stdin);
  const settings = settingsIn(documents);
  const { dump, problems: wrong } = machinesIn(documents);
  const all = [...findings, ...settings.findings];
  const manifests = manifestsIn(paths.join(', '), documents, options.namespace, all, wrong);
  const { controllerVersion, daemonImage } = options;
  const fleet = completeFleet(manifests, { osImages: namedImages(options), controllerVersion, daemonImage });
  const rendered = renderedIn(manifests.machineConfigs);
  const state: FleetState = {
    pools: fleet.pools,
    machineConfigs: fleet.machineConfigs,
    settings: settings.object,
    osImages: fleet.osImages,
    streams: fleet.streams,
    running: runningIn({ pools: fleet.pools, nodes: dump.nodes, rendered, streams: fleet.streams }),
    controllerVersion: fleet.controllerVersion,
  };
  return {
    state,
    given: { ...state },
    givenVersions: fleet.givenVersions,
    rendered,
    dump,
    notes: formatFleetNotes({ ...manifests, ignored: unused(manifests.ignored) }, fleet),
  };
}

/** A plan uses more kinds than a render. */
const unused = (ignored: ReadonlyMap<string, number>): ReadonlyMap<string, number> =>
  new Map([...ignored].filter(([kind]) => kind !== machineConfigurationKind.kind && !dumpedKinds.has(kind)));

const PLANNED = [machineConfigKind, machineConfigPoolKind, machineConfigurationKind];

/** The objects of -f. Throws for other kinds, because the plan would silently ignore them. */
export function appliedManifests(
  documents: readonly ManifestDocument[],
  findings: readonly PlacedFinding[],
): { given: AppliedManifests; notes: string[] } {
  const collected = collectManifests(documents);
  const settings = settingsIn(documents);
  const wrong: CodedProblem[] = [
    ...errorsIn([...findings, ...settings.findings]),
    ...(collected.ok ? [] : collected.problems),
    ...documents.flatMap(findDocumentProblems),
    ...(documents.length + errorsIn(findings).length === 0 ? [...findings.map(toCodedProblem), NOTHING] : []),
  ];
  if (wrong.length > 0 || !collected.ok) throw new ProblemList(wrong);
  const { machineConfigs, pools, warnings } = collected.manifests;
  const notes = [...warningsIn([...findings, ...settings.findings]), ...warnings].map((each) => `warning: ${each}`);
  return { given: { machineConfigs, pools, settings: settings.object }, notes };
}

const NOTHING: CodedProblem = {
  code: 'SLW_CLI_MANIFEST',
  message:
    '-f: expected a MachineConfig, MachineConfigPool or MachineConfiguration in .yaml, .yml or .json files, found no objects',
};

function findDocumentProblems(document: ManifestDocument): CodedProblem[] {
  const { value } = document;
  const { group, kind } = parseHeader(value);
  const name = nameIn(value);
  if (!PLANNED.some((each) => each.group === group && each.kind === kind)) {
    return [
      {
        code: 'SLW_CLI_PLAN_KIND',
        message: `${placeOf(document)}: ${kind}${name === '' ? '' : ` ${name}`}: expected ${PLANNED.map((each) => each.kind).join(', ')} of the groups ${machineConfigKind.group} and ${machineConfigurationKind.group}. slipway plan does not cover other objects; leave them out`,
      },
    ];
  }
  if (kind !== machineConfigKind.kind || !name.startsWith(RENDERED_PREFIX)) return [];
  return [
    {
      code: 'SLW_CLI_PLAN_KIND',
      message: `${placeOf(document)}: MachineConfig ${name} is rendered, and only the render controller writes rendered MachineConfigs. Pass the MachineConfigs that it is rendered from`,
    },
  ];
}

function nameIn(value: unknown): string {
  const metadata = isRecord(value) && isRecord(value['metadata']) ? value['metadata'] : {};
  return typeof metadata['name'] === 'string' ? metadata['name'] : '';
}

interface Settings {
  readonly object: MachineConfiguration | undefined;
  readonly findings: readonly PlacedFinding[];
}

/** The MachineConfiguration `cluster`, a singleton. */
function settingsIn(documents: readonly ManifestDocument[]): Settings {
  const shelf = new Shelf(machineConfigurationKind);
  const findings = documents
    .filter(({ value }) => shelf.isFor(parseHeader(value)))
    .flatMap((document): PlacedFinding[] => {
      const name = nameIn(document.value);
      if (name === SINGLETON_NAME) return shelf.put(document);
      const object = `${machineConfigurationKind.kind} ${name}`;
      const text = `${object}: expected the name ${SINGLETON_NAME}; any other is ignored`;
      return [manifestFinding(document, object, 'metadata.name', text)];
    });
  return { object: shelf.objects[0], findings };
}

/** Nodes, pods and budgets from a dump of a cluster, in the format of `kubectl get -o json`. */
export interface Dump {
  readonly nodes: readonly Node[];
  readonly pods: readonly Stored<Pod>[];
  readonly budgets: readonly PodDisruptionBudget[];
}

const dumpedKinds: ReadonlySet<string> = new Set([nodes.kind, pods.kind, podDisruptionBudgets.kind]);

/** Objects that the API server would not return are left out and reported. */
function machinesIn(documents: readonly ManifestDocument[]): { dump: Dump; problems: CodedProblem[] } {
  const problems: CodedProblem[] = [];
  const take = <T>(resource: { group: string; kind: string }, isIt: (value: unknown) => value is T): T[] =>
    documents.flatMap((document) => {
      const { value } = document;
      const { group, kind } = parseHeader(value);
      if (group !== resource.group || kind !== resource.kind) return [];
      if (isIt(value)) return [value];
      const text = `${kind}: expected an object as returned by the API server, found missing or malformed fields`;
      problems.push(toCodedProblem(manifestFinding(document, kind, '', text)));
      return [];
    });
  return {
    dump: {
      nodes: take(nodes, isNode),
      pods: take(pods, isPod),
      budgets: take(podDisruptionBudgets, isBudget),
    },
    problems,
  };
}

/** By name. */
const renderedIn = (machineConfigs: readonly MachineConfig[]): Map<string, PlannedConfig['spec']> =>
  new Map(
    machineConfigs
      .filter(({ metadata }) => metadata.name.startsWith(RENDERED_PREFIX))
      .map(({ metadata, spec }) => [metadata.name, spec ?? {}]),
  );

const isText = (value: unknown): value is string => typeof value === 'string';

const isAbsentOr =
  (isIt: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || isIt(value);

const isListOf =
  (isIt: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) && value.every((each: unknown) => isIt(each));

const isTextMap = (value: unknown): boolean => isRecord(value) && Object.values(value).every(isText);

type Checks = Readonly<Record<string, (value: unknown) => boolean>>;

/** Fields that `checks` does not name are unused and may be anything. */
const isObject =
  (checks: Checks) =>
  (value: unknown): boolean =>
    isRecord(value) && Object.entries(checks).every(([field, isIt]) => isIt(value[field]));

const metadata = isObject({
  name: isText,
  uid: isText,
  resourceVersion: isText,
  namespace: isAbsentOr(isText),
  labels: isAbsentOr(isTextMap),
  annotations: isAbsentOr(isTextMap),
  creationTimestamp: isAbsentOr(isText),
  deletionTimestamp: isAbsentOr(isText),
  ownerReferences: isAbsentOr(isListOf(isObject({ kind: isText, name: isText }))),
});

const conditions = isAbsentOr(isListOf(isObject({ type: isText, status: isText })));

const node = isObject({
  metadata,
  spec: isAbsentOr(isRecord),
  status: isAbsentOr(isObject({ conditions, nodeInfo: isAbsentOr(isRecord) })),
});

const pod = isObject({
  metadata,
  spec: isAbsentOr(isObject({ nodeName: isAbsentOr(isText) })),
  status: isAbsentOr(isObject({ phase: isAbsentOr(isText) })),
});

const requirement = isObject({ key: isText, operator: isText, values: isAbsentOr(isListOf(isText)) });

const selector = isObject({ matchLabels: isAbsentOr(isTextMap), matchExpressions: isAbsentOr(isListOf(requirement)) });

const budget = isObject({
  metadata,
  spec: isAbsentOr(isObject({ selector: isAbsentOr(selector) })),
  status: isAbsentOr(isRecord),
});

const isNode = (value: unknown): value is Node => node(value);

const isPod = (value: unknown): value is Stored<Pod> => pod(value);

const isBudget = (value: unknown): value is PodDisruptionBudget => budget(value);
