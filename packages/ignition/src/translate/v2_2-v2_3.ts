// Spec 2.2.0 and 2.3.0.
import type { Findings } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { leaveOut, withList } from './step.ts';

type Disk2_2 = NonNullable<NonNullable<ConfigOf<'2.2.0'>['storage']>['disks']>[number];
type Partition2_2 = NonNullable<Disk2_2['partitions']>[number];
type Disk2_3 = NonNullable<NonNullable<ConfigOf<'2.3.0'>['storage']>['disks']>[number];
type Partition2_3 = NonNullable<Disk2_3['partitions']>[number];

/** In 2.2 the start, size and label of a partition are always present, so 2.3 states them explicitly. */
export function v2_2ToV2_3(config: ConfigOf<'2.2.0'>): ConfigOf<'2.3.0'> {
  const ignition = { ...config.ignition, version: '2.3.0' } as const;
  const { storage, ...rest } = config;
  if (storage === undefined) return { ...rest, ignition };
  const { disks, ...others } = storage;
  return { ...rest, ignition, storage: { ...others, ...withList('disks', disks?.map(upgradeDisk)) } };
}

function upgradeDisk({ partitions, ...disk }: Disk2_2) {
  return { ...disk, ...withList('partitions', partitions?.map(upgradePartition)) };
}

function upgradePartition(partition: Partition2_2) {
  return { label: '', size: 0, start: 0, ...partition };
}

/** 2.2 has no sizes in MiB, and no partitions that must not exist or be wiped. */
export function v2_3ToV2_2(config: ConfigOf<'2.3.0'>, findings: Findings): ConfigOf<'2.2.0'> {
  const ignition = { ...config.ignition, version: '2.2.0' } as const;
  const { storage, ...rest } = config;
  if (storage === undefined) return { ...rest, ignition };
  const { disks, ...others } = storage;
  const translated = disks?.map((disk, index) => downgradeDisk(disk, `storage.disks[${index}]`, findings));
  return { ...rest, ignition, storage: { ...others, ...withList('disks', translated) } };
}

function downgradeDisk({ partitions, ...disk }: Disk2_3, at: string, findings: Findings): Disk2_2 {
  const translated = partitions?.map((partition, index) =>
    downgradePartition(partition, `${at}.partitions[${index}]`, findings),
  );
  return { ...disk, ...withList('partitions', translated) };
}

function downgradePartition(partition: Partition2_3, at: string, findings: Findings): Partition2_2 {
  const { shouldExist, sizeMiB, startMiB, wipePartitionEntry, label, size, start, ...rest } = partition;
  leaveOut({ path: `${at}.shouldExist`, value: shouldExist, neutral: true }, '2.2.0', findings);
  leaveOut({ path: `${at}.sizeMiB`, value: sizeMiB }, '2.2.0', findings);
  leaveOut({ path: `${at}.startMiB`, value: startMiB }, '2.2.0', findings);
  leaveOut({ path: `${at}.wipePartitionEntry`, value: wipePartitionEntry }, '2.2.0', findings);
  return {
    ...rest,
    ...(label ? { label } : {}),
    ...(size ? { size } : {}),
    ...(start ? { start } : {}),
  };
}
