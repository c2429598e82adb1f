// Spec 2.2.0 to 2.3.0: in 2.2 the start, size and label of a partition are always there, so from now on they are said.
import type { ConfigOf } from '../spec/index.ts';
import { withList } from './with-list.ts';

export function v2_2ToV2_3(config: ConfigOf<'2.2.0'>): ConfigOf<'2.3.0'> {
  const ignition = { ...config.ignition, version: '2.3.0' } as const;
  const { storage, ...rest } = config;
  if (storage === undefined) return { ...rest, ignition };
  const { disks, ...others } = storage;
  return { ...rest, ignition, storage: { ...others, ...withList('disks', disks?.map(translateDisk)) } };
}

type Disk = NonNullable<NonNullable<ConfigOf<'2.2.0'>['storage']>['disks']>[number];
type Partition = NonNullable<Disk['partitions']>[number];

function translateDisk({ partitions, ...disk }: Disk) {
  return { ...disk, ...withList('partitions', partitions?.map(translatePartition)) };
}

function translatePartition(partition: Partition) {
  return { label: '', size: 0, start: 0, ...partition };
}
