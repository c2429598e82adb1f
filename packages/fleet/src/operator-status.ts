// What ClusterOperator machine-config reports: the findings of all jobs in the conditions that platforms and their
// tools read, and the versions.
import type { DataImage, MachineConfiguration, MachineConfigPool } from '@slipway/api';
import { listNames, truncate } from '@slipway/base/text';
import type { StreamCondition } from './os-streams/deprecation.ts';

interface Condition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

export interface OperatorFacts {
  /** The version of the platform; null: there is no platform, and ours counts. */
  readonly platformVersion: string | null;
  readonly controllerVersion: string;
  /** Whether the OS image streams are those of the platform's release, or not used. */
  readonly areStreamsCurrent: boolean;
  readonly pools: readonly MachineConfigPool[];
  /** The finding about the sources of OS image streams; undefined: none. */
  readonly streams: Condition | undefined;
  readonly machineConfiguration: MachineConfiguration | undefined;
  readonly dataImages: readonly DataImage[];
  /** The reported version of the platform; null: none yet. */
  readonly reported: string | null;
}

export interface OperatorCondition {
  readonly type: 'Available' | 'Progressing' | 'Degraded';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export interface OperatorStatus {
  readonly conditions: readonly OperatorCondition[];
  readonly versions: readonly { readonly name: string; readonly version: string }[];
}

export interface UpgradeableFacts {
  readonly pools: readonly MachineConfigPool[];
  /** The finding about pools whose OS image stream ends. */
  readonly streams: StreamCondition;
  /** Why boot images are too old for an upgrade; null: they are not. */
  readonly skew: string | null;
}

/** For the condition Upgradeable: a platform starts no upgrade to the next minor version while it is False. */
export function joinUpgradeable({ pools, streams, skew }: UpgradeableFacts): StreamCondition {
  const findings = [
    ...findDegradedPools(pools),
    ...(streams.status === 'False' ? [streams] : []),
    ...(skew === null ? [] : [{ reason: 'BootImageSkew', message: skew }]),
  ];
  return findings.length === 0
    ? { status: 'True', reason: AS_EXPECTED, message: '' }
    : { status: 'False', ...joinFindings(findings) };
}

/** Without the message of each pool, which changes with its machines: Degraded has it. */
function findDegradedPools(pools: readonly MachineConfigPool[]): Finding[] {
  const names = pools.filter(isDegraded).map(({ metadata }) => metadata.name);
  if (names.length === 0) return [];
  const listed = listNames(names.toSorted(), { max: MAX_OBJECTS });
  const message = `Cannot upgrade: MachineConfigPool ${listed} is degraded. Fix what the condition Degraded of the pool names`;
  return [{ reason: 'DegradedPool', message }];
}

interface Finding {
  readonly reason: string;
  readonly message: string;
}

export function computeOperatorStatus(facts: OperatorFacts): OperatorStatus {
  const target = facts.platformVersion ?? facts.controllerVersion;
  const version = hasReached(facts) ? target : facts.reported;
  const moving = version === target ? [] : [{ reason: 'VersionChanging', message: versionMessage(facts, target) }];
  const progress = [...moving, ...findProgress(facts)];
  return {
    conditions: [
      available(facts.pools, version),
      joined('Progressing', progress, `Version: ${version ?? 'none yet'}`),
      joined('Degraded', findFailures(facts), ''),
    ],
    versions: [
      ...(version === null ? [] : [{ name: 'operator', version }]),
      { name: 'slipway', version: facts.controllerVersion },
    ],
  };
}

/** Without these, no machine can join the cluster. */
const corePools: ReadonlySet<string> = new Set(['master', 'worker']);
const REQUIRED_LABEL = 'operator.machineconfiguration.openshift.io/required-for-upgrade';
const AS_EXPECTED = 'AsExpected';
const MAX_MESSAGE_LENGTH = 4000;
const MAX_OBJECTS = 10;
/** A single failure of a BMC is common, and retried. */
const MIN_FAILURES = 3;

function available(pools: readonly MachineConfigPool[], version: string | null): OperatorCondition {
  const without = pools
    .filter(({ metadata, spec }) => corePools.has(metadata.name) && spec.configuration?.name === undefined)
    .map(({ metadata }) => metadata.name)
    .sort();
  if (without.length === 0) {
    return { type: 'Available', status: 'True', reason: AS_EXPECTED, message: `Version: ${version ?? 'none yet'}` };
  }
  const message = `Nothing is rendered for MachineConfigPool ${without.join(', ')}: no machine can join. RenderDegraded of the pool explains why`;
  return { type: 'Available', status: 'False', reason: 'PoolNotRendered', message };
}

/** The release is applied where the platform waits for it: in the pools that an upgrade requires. */
function hasReached({ pools, areStreamsCurrent }: OperatorFacts): boolean {
  return areStreamsCurrent && pools.filter(isRequired).every(isOnNewest);
}

const isRequired = ({ metadata }: MachineConfigPool): boolean =>
  metadata.name === 'master' || metadata.labels?.[REQUIRED_LABEL] !== undefined;

const isOnNewest = ({ metadata, spec, status }: MachineConfigPool): boolean =>
  status?.observedGeneration === metadata.generation &&
  status?.configuration?.name === spec.configuration?.name &&
  holds(status?.conditions, 'Updated') &&
  !holds(status?.conditions, 'Degraded');

function versionMessage({ pools, areStreamsCurrent }: OperatorFacts, target: string): string {
  const waiting = pools.filter((pool) => isRequired(pool) && !isOnNewest(pool)).map(({ metadata }) => metadata.name);
  const why = areStreamsCurrent
    ? `waiting for MachineConfigPool ${waiting.sort().join(', ')}`
    : 'waiting for the OS image streams of the release';
  return `Working towards ${target}: ${why}`;
}

const findProgress = ({ pools, machineConfiguration }: OperatorFacts): Finding[] => [
  ...listed('PoolUpdating', listUpdating(pools)),
  ...ofBootImages(machineConfiguration, 'BootImageUpdateProgressing'),
];

/** Without the progress of each pool, which changes with every machine: the pool has it. */
const listUpdating = (pools: readonly MachineConfigPool[]): string[] =>
  pools
    .filter(({ status }) => holds(status?.conditions, 'Updating'))
    .map(({ metadata }) => `MachineConfigPool ${metadata.name} is updating`);

function findFailures({ pools, streams, machineConfiguration, dataImages }: OperatorFacts): Finding[] {
  const drives = dataImages
    .filter(({ status }) => (status?.error?.count ?? 0) >= MIN_FAILURES)
    .map(
      ({ metadata, status }) =>
        `DataImage ${metadata.namespace}/${metadata.name}: ${status?.error?.message} (${status?.error?.count} failures)`,
    );
  return [
    ...(streams?.status === 'True' ? [{ reason: 'OSImageStreamDegraded', message: streams.message ?? '' }] : []),
    ...ofPools(pools, 'Degraded', 'PoolDegraded'),
    ...ofPools(pools, 'PinnedImageSetsDegraded', 'PinnedImageSetsDegraded'),
    ...ofBootImages(machineConfiguration, 'BootImageUpdateDegraded'),
    ...listed('DataImageFailed', drives),
  ];
}

const ofPools = (pools: readonly MachineConfigPool[], type: string, reason: string): Finding[] =>
  listed(
    reason,
    pools.flatMap((pool) => {
      const found = findFailure(pool, type);
      return found === undefined ? [] : [`MachineConfigPool ${pool.metadata.name}: ${found.message ?? ''}`];
    }),
  );

const isDegraded = (pool: MachineConfigPool): boolean => findFailure(pool, 'Degraded') !== undefined;

/**
 * Each new pool waits for its image, and has no machines that fail. If it waits because of a source, the finding about
 * streams reports it.
 */
const findFailure = ({ status }: MachineConfigPool, type: string): Condition | undefined => {
  const found = status?.conditions?.find((each) => each.type === type && each.status === 'True');
  return found?.reason === 'OSImageMissing' && !holds(status?.conditions, 'NodeDegraded') ? undefined : found;
};

function ofBootImages(machineConfiguration: MachineConfiguration | undefined, type: string): Finding[] {
  const found = machineConfiguration?.status?.conditions?.find((each) => each.type === type && each.status === 'True');
  return found === undefined ? [] : [{ reason: type, message: `MachineConfiguration cluster: ${found.message ?? ''}` }];
}

function listed(reason: string, messages: readonly string[]): Finding[] {
  if (messages.length === 0) return [];
  const more = messages.length > MAX_OBJECTS ? [`and ${messages.length - MAX_OBJECTS} more`] : [];
  return [{ reason, message: [...messages.toSorted().slice(0, MAX_OBJECTS), ...more].join('\n') }];
}

function joined(type: OperatorCondition['type'], findings: readonly Finding[], otherwise: string): OperatorCondition {
  if (findings.length === 0) return { type, status: 'False', reason: AS_EXPECTED, message: otherwise };
  return { type, status: 'True', ...joinFindings(findings) };
}

/** Each finding gets its share of the space: a very long one must not hide the others. */
function joinFindings(findings: readonly Finding[]): Finding {
  const share = Math.floor(MAX_MESSAGE_LENGTH / findings.length) - 1;
  return {
    reason: findings.map(({ reason }) => reason).join('::'),
    message: findings.map(({ message }) => truncate(message, share)).join('\n'),
  };
}

const holds = (conditions: readonly Condition[] | undefined, type: string): boolean =>
  conditions?.some((each) => each.type === type && each.status === 'True') === true;
