// Spec 2.3.0 to 2.2.0: no sizes in MiB, no partitions that must not exist or be wiped.
import type { Findings } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { leaveOut } from './left-out.ts';
import { withList } from './with-list.ts';

type Disk = NonNullable<NonNullable<ConfigOf<'2.3.0'>['storage']>['disks']>[number];
type Partition = NonNullable<Disk['partitions']>[number];
type OlderDisk = NonNullable<NonNullable<ConfigOf<'2.2.0'>['storage']>['disks']>[number];
type OlderPartition = NonNullable<OlderDisk['partitions']>[number];

export function v2_3ToV2_2(config: ConfigOf<'2.3.0'>, findings: Findings): ConfigOf<'2.2.0'> {
  const ignition = { ...config.ignition, version: '2.2.0' } as const;
  const { storage, ...rest } = config;
  if (storage === undefined) return { ...rest, ignition };
  const { disks, ...others } = storage;
  const translated = disks?.map((disk, index) => translateDisk(disk, `storage.disks[${index}]`, findings));
  return { ...rest, ignition, storage: { ...others, ...withList('disks', translated) } };
}

function translateDisk({ partitions, ...disk }: Disk, at: string, findings: Findings): OlderDisk {
  const translated = partitions?.map((partition, index) =>
    translatePartition(partition, `${at}.partitions[${index}]`, findings),
  );
  return { ...disk, ...withList('partitions', translated) };
}

function translatePartition(partition: Partition, at: string, findings: Findings): OlderPartition {
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
