// For each alert: the series of a healthy fleet, those while its fault lasts, and the labels with which it fires.

/** The value of a series now; null: it is not exported. Counters have the number of minutes since the fault started. */
type Series = Readonly<Record<string, number | null | ((minute: number) => number)>>;

export interface AlertCase {
  readonly alert: string;
  readonly healthy: Series;
  readonly failing: Series;
  readonly labels: Readonly<Record<string, string>>;
  /** What `$value` is in the texts. */
  readonly value?: number;
  /** Minutes until the expression of the alert holds, and until it no longer does. */
  readonly startsAfter?: number;
  readonly endsAfter?: number;
}

const target = { namespace: 'openshift-machine-config-operator', job: 'slipway-controllers' };
const { namespace } = target;
const pool = { namespace, pool: 'worker' };

const series = (metric: string, labels: Readonly<Record<string, string>>): string =>
  `${metric}{${Object.entries({ ...target, ...labels })
    .map(([name, value]) => `${name}="${value}"`)
    .join(',')}}`;

/** A series that is exported only while something fails. */
const only = (metric: string, labels: Readonly<Record<string, string>>, value = 1) => ({
  healthy: { [series(metric, labels)]: null },
  failing: { [series(metric, labels)]: value },
});

const condition = (condition: string, reason: string) =>
  only('slipway_pool_condition', { pool: 'worker', condition, reason });

const problems = (drifted: number, unreported: number): Series => ({
  [series('slipway_pool_problem_machines', { pool: 'worker', problem: 'drifted' })]: drifted,
  [series('slipway_pool_problem_machines', { pool: 'worker', problem: 'unreported' })]: unreported,
});
const degraded = series('mco_degraded_machine_count', { pool: 'worker' });
const updated = series('mco_updated_machine_count', { pool: 'worker' });
const rollingOut = series('slipway_pool_condition', { pool: 'worker', condition: 'Updating', reason: 'RollingOut' });
const running = series('mcc_sub_controller_state', { subcontroller: 'render', state: 'running', object: '' });
const outdated = series('slipway_server_outdated', { pool: 'worker' });
const watch = series('slipway_watch_open', { resource: 'machineconfigs.machineconfiguration.openshift.io' });
const errors = series('slipway_reconcile_errors_total', { controller: 'render', code: 'SLW_KUBE_FORBIDDEN' });

const bootImage = { name: 'a', api: 'machine.openshift.io', kind: 'MachineSet', code: 'SLW_BOOT_IMAGES_WRITE' };

export const alertCases: readonly AlertCase[] = [
  { alert: 'SlipwayRolloutHalted', ...condition('Updating', 'RolloutHalted'), labels: pool },
  {
    alert: 'SlipwayRolloutStalled',
    // One machine a minute is updated.
    healthy: { [rollingOut]: 1, [updated]: (minute) => minute },
    failing: { [rollingOut]: 1, [updated]: 0 },
    labels: pool,
    startsAfter: 15,
  },
  {
    alert: 'SlipwayRolloutStalled',
    // The pool was paused before the rollout, and is again when the fault ends.
    healthy: { [rollingOut]: null, [updated]: 0 },
    failing: { [rollingOut]: 1, [updated]: 0 },
    labels: pool,
    endsAfter: 10,
  },
  {
    alert: 'SlipwayNodeDegraded',
    // One has drifted.
    healthy: { ...problems(1, 0), [degraded]: 1 },
    failing: { ...problems(1, 0), [degraded]: 3 },
    labels: pool,
    value: 2,
  },
  { alert: 'SlipwayConfigDrift', healthy: problems(0, 0), failing: problems(3, 0), labels: pool, value: 3 },
  { alert: 'SlipwayNodeNotReported', healthy: problems(0, 0), failing: problems(0, 2), labels: pool, value: 2 },
  {
    alert: 'SlipwayNodeWithoutPool',
    ...only('mcc_pool_alert', { node: 'worker-1' }),
    labels: { namespace, node: 'worker-1' },
  },
  {
    alert: 'SlipwayDrainBlocked',
    ...only('mcc_drain_err', { node: 'worker-1' }),
    labels: { namespace, node: 'worker-1' },
  },
  {
    alert: 'SlipwayPoolNotRendered',
    ...condition('RenderDegraded', 'RenderFailed'),
    labels: { ...pool, reason: 'RenderFailed' },
  },
  { alert: 'SlipwayServerOutdated', healthy: { [outdated]: 0 }, failing: { [outdated]: 1 }, labels: pool },
  { alert: 'SlipwayControllersDown', healthy: { [running]: 1 }, failing: { [running]: 0 }, labels: {} },
  {
    alert: 'SlipwayReconcileErrors',
    // A burst of errors long ago, then one every two minutes.
    healthy: { [errors]: 5 },
    failing: { [errors]: (minute) => 5 + Math.ceil(minute / 2) },
    labels: { namespace, controller: 'render', code: 'SLW_KUBE_FORBIDDEN' },
    startsAfter: 1,
    endsAfter: 10,
  },
  {
    alert: 'SlipwayWatchDown',
    healthy: { [watch]: 1 },
    failing: { [watch]: 0 },
    labels: { ...target, resource: 'machineconfigs.machineconfiguration.openshift.io' },
  },
  {
    alert: 'SlipwayStreamSourceFailed',
    ...only('slipway_os_stream_problems', { code: 'SLW_STREAM_SOURCE_FAILED' }),
    labels: { namespace, code: 'SLW_STREAM_SOURCE_FAILED' },
  },
  {
    alert: 'SlipwayStreamEnded',
    ...only('slipway_os_stream_pools', { stream: 'rhel-9', state: 'blocked' }, 2),
    labels: { namespace, stream: 'rhel-9', state: 'blocked' },
    value: 2,
  },
  {
    alert: 'SlipwayStreamDeprecated',
    ...only('slipway_os_stream_pools', { stream: 'rhel-9', state: 'deprecated' }, 2),
    labels: { namespace, stream: 'rhel-9' },
    value: 2,
  },
  {
    alert: 'SlipwayBootImageFailed',
    ...only('slipway_boot_image_failed', { exported_namespace: 'openshift-machine-api', ...bootImage }),
    labels: { namespace, exported_namespace: 'openshift-machine-api', ...bootImage },
  },
  {
    alert: 'SlipwayPinnedImagesFailed',
    ...condition('PinnedImageSetsDegraded', 'PrefetchFailed'),
    labels: { ...pool, reason: 'PrefetchFailed' },
  },
  {
    alert: 'SlipwayDataImageFailed',
    ...only('slipway_data_image_failures', { host: 'metal/worker-0' }, 3),
    labels: { namespace, host: 'metal/worker-0' },
    value: 3,
  },
];
