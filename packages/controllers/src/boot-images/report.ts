// Tells of all resources together, on MachineConfiguration `cluster` and in metrics. While a thousand of them change, that is
// once a second.
import {
  bootImageFailuresAnnotation,
  clusterApiMachineSets,
  clusterVersions,
  type ConfigMap,
  configMaps,
  type MachineConfiguration,
  machineConfigurations,
  machineDeployments,
  machineSets,
} from '@slipway/api';
import {
  bootImageConditions,
  type Decision,
  decodeFailures,
  enrolmentNotes,
  installVersionOf,
  isEnrolled,
  managersInForce,
  nextFailures,
  optInOf,
  skewOf,
  untilNextFailure,
} from '@slipway/fleet/boot-images';
import {
  again,
  type Context,
  type ControllerDef,
  done,
  type Gate,
  isKubeError,
  type Next,
  type Read,
  type Resource,
  type Stored,
} from '@slipway/kube';
import { createBootImageMetrics } from './boot-image-metrics.ts';
import { BOOT_IMAGES, CLUSTER, goldenSource, releaseSource } from './boot-image-reads.ts';
import type { Shared } from './carry-out.ts';
import { bootImagesGate, type BootImagesOptions, fieldManager } from './options.ts';
import type { VerdictBoard } from './verdict-board.ts';
import { withdrawReport, writeReport } from './write-report.ts';

const once = (): string[] => [CLUSTER];
const BETWEEN_REPORTS_MS = 1000;

export function reportController(options: BootImagesOptions, { board }: Pick<Shared, 'board'>): ControllerDef {
  const { namespace } = options;
  const measured = options.metrics === undefined ? undefined : createBootImageMetrics(options.metrics);
  return {
    name: 'boot-images-report',
    gate: { name: bootImagesGate, whenOff: withdraw },
    fieldManager,
    minIntervalMs: BETWEEN_REPORTS_MS,
    reads: [
      { ...configurationSource, keysOf: once },
      { ...goldenSource(namespace), keysOf: once },
      { ...releaseSource, keysOf: once },
    ],
    owns: [{ resource: machineConfigurations }, { resource: machineConfigurations, subresource: 'status' }],
    startsWith: [CLUSTER],
    listen(wake) {
      const stopListening = board.onChange(() => wake(CLUSTER));
      return () => {
        stopListening();
        // Another process leads, and measures.
        measured?.failing([]);
      };
    },
    async reconcile(_, context) {
      // The board tells when more of them have been looked at.
      if (!(await isComplete(board, options, context))) return done();
      const decisions = [...board.values()];
      measured?.failing(decisions.filter(isFailing).map(({ verdict }) => verdict));
      const configuration = context.read(machineConfigurations).get(CLUSTER);
      // Without it nothing is opted in, and there is no place to say anything.
      return configuration === undefined ? done() : tell(configuration, decisions, context);
    },
  };
}

/** Conditions that no controller would clear any more go, and what would hold an upgrade for ever. The images stay as they are. */
const withdraw: Gate['whenOff'] = async ({ client, write, log }) => {
  const configuration = await client.find(machineConfigurations, { name: CLUSTER });
  if (configuration !== undefined && (await withdrawReport(configuration, write)))
    log.info(`the feature gate ${bootImagesGate} is off: took back what was said of boot images`);
};

const configurationSource = { resource: machineConfigurations, fieldSelector: `metadata.name=${CLUSTER}` } as const;

const isFailing = (decision: Decision): boolean => decision.verdict.verdict === 'failed' && isEnrolled(decision);

async function tell(
  configuration: Stored<MachineConfiguration>,
  decisions: readonly Decision[],
  { read, write, log, now }: Context,
): Promise<Next> {
  const time = now().getTime();
  const verdicts = decisions.filter(isEnrolled).map(({ verdict }) => verdict);
  const before = decodeFailures(configuration.metadata.annotations?.[bootImageFailuresAnnotation]);
  const failures = nextFailures(before, verdicts, time);
  const optIn = optInOf(configuration);
  const skew = skewOf({
    enforcement: configuration.spec.bootImageSkewEnforcement,
    optIn,
    findings: decisions,
    releaseVersion: configMapIn(read)?.data?.['releaseVersion']?.trim() ?? '',
    installVersion: installVersionOf({ clusterVersion: read(clusterVersions).get('version') }),
    before: configuration.status?.bootImageSkewEnforcementStatus,
  });
  const conditions = bootImageConditions({ decisions, failures, notes: enrolmentNotes(optIn), now: time });
  const report = { conditions, managers: managersInForce(optIn), failures, skew };
  const written = await writeReport(configuration, report, write, now());
  if (written !== null) log.debug({ decisions: decisions.length, failures: failures.size }, 'told of boot images');
  const wait = untilNextFailure(failures, time);
  return wait === null ? done() : again(wait);
}

const configMapIn = (read: Read): ConfigMap | undefined =>
  [...read(configMaps).values()].find(({ metadata }) => metadata.name === BOOT_IMAGES);

/** Whether all that make machines have been looked at. Of a kind that nobody serves there are none. */
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
