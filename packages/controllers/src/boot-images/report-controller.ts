// Reports on all resources together, in the status of MachineConfiguration `cluster` and in metrics: at most once a
// second, even while a thousand of them change.
import {
  bootImageFailuresAnnotation,
  BOOT_IMAGES_CONFIG_MAP,
  bootImageSkewAnnotation,
  clusterApiMachineSets,
  clusterVersions,
  type ConfigMap,
  configMaps,
  type MachineConfiguration,
  machineConfigurations,
  machineDeployments,
  machineSets,
  SINGLETON_NAME,
} from '@slipway/api';
import { isEqual } from '@slipway/base/equal';
import {
  annotationSteps,
  type BootImageCondition,
  bootImageConditions,
  type Decision,
  decodeFailures,
  encodeFailures,
  listSelectionNotes,
  type Failures,
  readInstallVersion,
  isSelected,
  type Json,
  keyOfMachines,
  type MachineKind,
  type MachineManager,
  type MachineResource,
  managersInForce,
  nextFailures,
  readOptIn,
  type PatchStep,
  patchSteps,
  type ResourceVerdict,
  type Skew,
  computeSkew,
  untilNextFailure,
} from '@slipway/fleet/boot-images';
import {
  again,
  type Condition,
  type Context,
  type ControllerDef,
  done,
  type Gate,
  isKubeError,
  type Metrics,
  type Next,
  type StoreReader,
  type Resource,
  setCondition,
  type Stored,
  type Writer,
} from '@slipway/kube';
import { Gauge } from 'prom-client';
import { BOOT_IMAGES_GATE, type BootImagesOptions, FIELD_MANAGER, goldenSource, releaseSource } from './sources.ts';

const once = (): string[] => [SINGLETON_NAME];
const MIN_REPORT_INTERVAL_MS = 1000;

export function reportController(options: BootImagesOptions, board: VerdictBoard): ControllerDef {
  const { namespace } = options;
  const measured = options.metrics === undefined ? undefined : createBootImageMetrics(options.metrics);
  return {
    name: 'boot-images-report',
    gate: { name: BOOT_IMAGES_GATE, whenOff: withdraw },
    fieldManager: FIELD_MANAGER,
    minIntervalMs: MIN_REPORT_INTERVAL_MS,
    reads: [
      { ...configurationSource, keysOf: once },
      { ...goldenSource(namespace), keysOf: once },
      { ...releaseSource, keysOf: once },
    ],
    owns: [{ resource: machineConfigurations }, { resource: machineConfigurations, subresource: 'status' }],
    startsWith: [SINGLETON_NAME],
    listen(wake) {
      const stopListening = board.onChange(() => wake(SINGLETON_NAME));
      return () => {
        stopListening();
        // From now on another process leads and exports this metric.
        measured?.failing([]);
      };
    },
    async reconcile(_, context) {
      // The board triggers a reconcile when more resources have been checked.
      if (!(await isComplete(board, options, context))) return done();
      const decisions = [...board.values()];
      measured?.failing(decisions.filter(isFailing).map(({ verdict }) => verdict));
      const configuration = context.read(machineConfigurations).get(SINGLETON_NAME);
      // Without this object nothing is opted in, and there is no status to report in.
      return configuration === undefined ? done() : publishReport(configuration, decisions, context);
    },
  };
}

/**
 * Removes conditions that no controller would clear, and what would block an upgrade forever. The images do not change.
 */
const withdraw: Gate['whenOff'] = async ({ client, write, log }) => {
  const configuration = await client.find(machineConfigurations, { name: SINGLETON_NAME });
  if (configuration !== undefined && (await withdrawReport(configuration, write)))
    log.info(`the feature gate ${BOOT_IMAGES_GATE} is off: removed the boot image report`);
};

const configurationSource = {
  resource: machineConfigurations,
  fieldSelector: `metadata.name=${SINGLETON_NAME}`,
} as const;

const isFailed = ({ verdict }: ResourceVerdict): boolean => verdict === 'failed';
const isFailing = (decision: Decision): boolean => isFailed(decision.verdict) && isSelected(decision);

async function publishReport(
  configuration: Stored<MachineConfiguration>,
  decisions: readonly Decision[],
  { read, write, log, now }: Context,
): Promise<Next> {
  const time = now().getTime();
  const verdicts = decisions.filter(isSelected).map(({ verdict }) => verdict);
  const before = decodeFailures(configuration.metadata.annotations?.[bootImageFailuresAnnotation]);
  const failures = nextFailures(before, verdicts, time);
  const optIn = readOptIn(configuration);
  const skew = computeSkew({
    enforcement: configuration.spec.bootImageSkewEnforcement,
    optIn,
    findings: decisions,
    releaseVersion: findConfigMap(read)?.data?.['releaseVersion']?.trim() ?? '',
    installVersion: readInstallVersion({ clusterVersion: read(clusterVersions).get('version') }),
    before: configuration.status?.bootImageSkewEnforcementStatus,
  });
  const conditions = bootImageConditions({ decisions, failures, notes: listSelectionNotes(optIn), now: time });
  const report = { conditions, managers: managersInForce(optIn, skew.status.mode === 'Automatic'), failures, skew };
  const written = await writeReport(configuration, report, write, now());
  if (written !== null)
    log.debug({ decisions: decisions.length, failures: failures.size }, 'updated the boot image report');
  const failing = new Set(verdicts.filter(isFailed).map(({ resource }) => keyOfMachines(resource)));
  const wait = untilNextFailure(new Map([...failures].filter(([key]) => failing.has(key))), time);
  return wait === null ? done() : again(wait);
}

const findConfigMap = (read: StoreReader): ConfigMap | undefined =>
  [...read(configMaps).values()].find(({ metadata }) => metadata.name === BOOT_IMAGES_CONFIG_MAP);

/** Whether every resource that creates machines has been checked. A kind that the cluster does not serve has none. */
async function isComplete(
  board: VerdictBoard,
  { machineApiNamespace, clusterApiNamespace }: BootImagesOptions,
  context: Context,
): Promise<boolean> {
  const kinds = [
    { api: 'machine.openshift.io', kind: 'MachineSet', resource: machineSets, namespace: machineApiNamespace },
    { api: 'cluster.x-k8s.io', kind: 'MachineSet', resource: clusterApiMachineSets, namespace: clusterApiNamespace },
    {
      api: 'cluster.x-k8s.io',
      kind: 'MachineDeployment',
      resource: machineDeployments,
      namespace: clusterApiNamespace,
    },
  ] as const;
  for (const { resource, namespace, ...kind } of kinds)
    if (!board.isComplete(kind) && (await isServed(resource, namespace, context))) return false;
  return true;
}

async function isServed(resource: Resource, namespace: string, { client, signal }: Context): Promise<boolean> {
  try {
    await client.list(resource, { namespace, pageSize: 1, signal }).next();
    return true;
  } catch (error) {
    if (!isKubeError(error, 'SLW_KUBE_KIND_NOT_INSTALLED')) throw error;
    return false;
  }
}

// The boot image report of MachineConfiguration `cluster`: conditions, the managers in force, the failures with their
// start, and the age of the oldest image. Written only on a change.

interface BootImageReport {
  readonly conditions: readonly BootImageCondition[];
  /** What is managed. */
  readonly managers: readonly MachineManager[];
  readonly failures: Failures;
  readonly skew: Skew;
}

type Configuration = Stored<MachineConfiguration>;

/** Returns what was written last; null if nothing differed. */
async function writeReport(
  configuration: Configuration,
  { conditions, managers, failures, skew }: BootImageReport,
  writer: Writer,
  now: Date,
): Promise<Configuration | null> {
  const { conditions: all, ...others } = readOtherFields(configuration);
  return write(configuration, writer, {
    annotations: { [bootImageFailuresAnnotation]: encodeFailures(failures), [bootImageSkewAnnotation]: skew.problem },
    status: {
      ...others,
      conditions: conditions.reduce((list: readonly Condition[], each) => setCondition(list, each, now), all ?? []),
      bootImageSkewEnforcementStatus: skew.status,
      ...(managers.length > 0 && { managedBootImagesStatus: { machineManagers: managers } }),
    },
  });
}

/** Removes everything that was ever reported here. */
async function withdrawReport(configuration: Configuration, writer: Writer): Promise<boolean> {
  const { conditions = [], ...others } = readOtherFields(configuration);
  const written = await write(configuration, writer, {
    annotations: { [bootImageFailuresAnnotation]: null, [bootImageSkewAnnotation]: null },
    status: {
      ...others,
      ...(configuration.status?.conditions !== undefined && {
        conditions: conditions.filter(({ type }) => !ourTypes.has(type)),
      }),
    },
  });
  return written !== null;
}

const ourTypes: ReadonlySet<string> = new Set<BootImageCondition['type']>([
  'BootImageUpdateProgressing',
  'BootImageUpdateDegraded',
]);

/** The fields of other writers, and the conditions, some of which are also of other writers. */
function readOtherFields({
  status = {},
}: Configuration): Omit<
  NonNullable<Configuration['status']>,
  'bootImageSkewEnforcementStatus' | 'managedBootImagesStatus'
> {
  const { bootImageSkewEnforcementStatus: _skew, managedBootImagesStatus: _managed, ...others } = status;
  return others;
}

interface DesiredReport {
  readonly annotations: Readonly<Record<string, string | null>>;
  readonly status: object;
}

/** Writes only the difference. Not server-side apply: values that another client left in our fields would stay. */
async function write(
  configuration: Configuration,
  writer: Writer,
  { annotations, status }: DesiredReport,
): Promise<Configuration | null> {
  const { metadata } = configuration;
  const annotated = await patch(configuration, annotationSteps(metadata.annotations, annotations), writer);
  const steps = statusSteps(configuration.status, status);
  return (await patch(annotated ?? configuration, steps, writer, { subresource: 'status' })) ?? annotated;
}

function statusSteps(before: Configuration['status'], after: object): PatchStep[] {
  if (before === undefined && Object.keys(after).length === 0) return [];
  if (before === undefined) return [{ op: 'add', path: '/status', value: toJson(after) }];
  return patchSteps(toJson(before), toJson(after), '/status');
}

/** A value from or for JSON. */
const toJson = (value: object): Json => value as Json;

async function patch(
  configuration: Configuration,
  steps: readonly PatchStep[],
  writer: Writer,
  part: { readonly subresource?: 'status' } = {},
): Promise<Configuration | null> {
  return steps.length === 0 ? null : writer.jsonPatch(machineConfigurations, configuration, steps, part);
}

// The latest decision about every resource, for the report on all of them. Not a source of truth: after a start every
// resource is checked again, and nothing is reported until then.

export interface VerdictBoard {
  /** Announces which resources of a kind exist: until each has been checked once, counts would be wrong. */
  begin(kind: MachineKind, resources: readonly MachineResource[]): void;
  /** Whether all announced resources of a kind have been checked. */
  isComplete(kind: MachineKind): boolean;
  /** Stores the decision without its pending change: once that is written, there is a new decision. */
  put(decision: Decision): void;
  /**
   * Stores a decision that is about to be executed. A resource that failed stays failed until its change is written:
   * otherwise every retry would look like a recovery, and no failure would last long enough to be reported.
   */
  announce(decision: Decision): void;
  remove(resource: MachineResource): void;
  values(): IterableIterator<Decision>;
  /** Calls the listener on every change. Returns a function that stops it. */
  onChange(listener: () => void): () => void;
}

export function createVerdictBoard(): VerdictBoard {
  const findings = new Map<string, Decision>();
  const unseen = new Map<string, Set<string>>();
  const listeners = new Set<() => void>();
  const notifyListeners = (): void => {
    for (const listener of listeners) listener();
  };
  const put = (decision: Decision): void => {
    const { resource } = decision.verdict;
    const key = keyOfMachines(resource);
    unseen.get(formatKind(resource))?.delete(key);
    const finding = { ...decision, change: null };
    if (isEqual(findings.get(key), finding)) return;
    findings.set(key, finding);
    notifyListeners();
  };
  return {
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    begin(kind, resources) {
      const keys = new Set(resources.map(keyOfMachines));
      // These resources disappeared while another process led.
      for (const [key, { verdict }] of findings)
        if (formatKind(verdict.resource) === formatKind(kind) && !keys.has(key)) findings.delete(key);
      unseen.set(formatKind(kind), new Set([...keys].filter((key) => !findings.has(key))));
      notifyListeners();
    },
    isComplete: (kind) => unseen.get(formatKind(kind))?.size === 0,
    put,
    announce(decision) {
      const isRetry = findings.get(keyOfMachines(decision.verdict.resource))?.verdict.verdict === 'failed';
      if (decision.change === null || !isRetry) put(decision);
    },
    remove(resource) {
      const isUnseen = unseen.get(formatKind(resource))?.delete(keyOfMachines(resource)) === true;
      if (findings.delete(keyOfMachines(resource)) || isUnseen) notifyListeners();
    },
    values: () => findings.values(),
  };
}

const formatKind = ({ api, kind }: MachineKind): string => `${kind}.${api}`;

// The metric of boot images: each resource that does not get its image, by name.

export interface BootImageMetrics {
  /** All that fail now. The others are healthy again. */
  failing(verdicts: readonly Pick<ResourceVerdict, 'resource' | 'code'>[]): void;
}

export function createBootImageMetrics({ registry }: Pick<Metrics, 'registry'>): BootImageMetrics {
  const gauge = new Gauge({
    name: 'slipway_boot_image_failed',
    help: '1 for a MachineSet or MachineDeployment whose boot image cannot be kept current, by error code.',
    labelNames: ['namespace', 'name', 'api', 'kind', 'code'],
    registers: [registry],
  });
  return {
    failing(verdicts) {
      gauge.reset();
      for (const { resource, code } of verdicts) {
        const { namespace, name, api, kind } = resource;
        gauge.set({ namespace, name, api, kind, code: code ?? '' }, 1);
      }
    },
  };
}
