// Disks and their partitions in spec 2.x.
import { isAbsolute } from '../posix-path.ts';
import { type Findings, show } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { utf8Length } from '../utf8.ts';
import { findOverlap, GUID, guidProblem, LABEL_BYTES, repeated, spanOf } from './disk.ts';

type Disk = NonNullable<NonNullable<ConfigOf<'2.4.0'>['storage']>['disks']>[number];
type Partition = NonNullable<Disk['partitions']>[number];

/** Sectors in a MiB: where partitions must start. */
const ALIGNMENT = 2048;

export function checkDisk2(disk: Disk, at: string, plainNumbers: boolean, findings: Findings): void {
  if (!isAbsolute(disk.device)) findings.error(`${at}.device`, `the device ${show(disk.device)} is no absolute path`);
  const partitions = disk.partitions ?? [];
  partitions.forEach((partition, index) => checkPartition(partition, `${at}.partitions[${index}]`, findings));
  const twice = repeated(partitions.map(({ number }) => (number === 0 ? undefined : number)));
  if (twice !== null)
    findings.error(`${at}.partitions[${twice}]`, 'the partition number is taken by another partition');
  const overlap = findOverlap(spansOf(partitions, plainNumbers));
  if (overlap !== null) {
    findings.error(`${at}.partitions[${overlap[1]}]`, `the partition overlaps partitions[${overlap[0]}]`);
  }
  if (partitions.some(({ start }) => (start ?? 0) % ALIGNMENT !== 0)) {
    findings.error(`${at}.partitions`, `a partition does not start at a multiple of ${ALIGNMENT} sectors`);
  }
  if (!plainNumbers) checkMixtures(partitions, at, findings);
}

/** In 2.2 two partitions that are the same in every field are, to the client, one and the same. */
function spansOf(partitions: readonly Partition[], plainNumbers: boolean): ReturnType<typeof spanOf>[] {
  if (!plainNumbers) return partitions.map(({ start, size }) => spanOf(start, size));
  const seen = new Set<string>();
  return partitions.map((partition) => {
    const text = JSON.stringify(partition);
    if (seen.has(text)) return null;
    seen.add(text);
    return spanOf(partition.start ?? 0, partition.size ?? 0);
  });
}

function checkMixtures(partitions: readonly Partition[], at: string, findings: Findings): void {
  const hasZero = partitions.some(({ number }) => (number ?? 0) === 0);
  if (hasZero && partitions.some(({ shouldExist }) => shouldExist === false)) {
    findings.error(`${at}.partitions`, 'with a partition that should not exist, every partition needs a number');
  }
  if (partitions.some(usesSectors) && partitions.some(usesMiB)) {
    findings.error(`${at}.partitions`, 'sizes are given both in sectors and in MiB: use sizeMiB and startMiB');
  }
}

function usesSectors({ size, start }: Partition): boolean {
  return size !== undefined || start !== undefined;
}

function usesMiB({ sizeMiB, startMiB }: Partition): boolean {
  return sizeMiB !== undefined || startMiB !== undefined;
}

function checkPartition(partition: Partition, at: string, findings: Findings): void {
  if (partition.shouldExist === false && describesPartition(partition)) {
    findings.error(at, 'a partition that should not exist has no label, guid, typeGuid, start or size');
  }
  for (const name of ['guid', 'typeGuid'] as const) {
    const value = partition[name] ?? '';
    if (!GUID.test(value)) findings.error(`${at}.${name}`, guidProblem(value));
  }
  if (partition.label !== undefined) checkLabel(partition.label, `${at}.label`, findings);
}

function describesPartition(partition: Partition): boolean {
  const { label, guid, typeGuid } = partition;
  return label !== undefined || Boolean(guid) || Boolean(typeGuid) || usesSectors(partition);
}

function checkLabel(label: string, at: string, findings: Findings): void {
  const length = utf8Length(label);
  if (length > LABEL_BYTES)
    findings.error(at, `the label ${show(label)} has ${length} bytes: at most ${LABEL_BYTES} fit`);
  if (label.includes(':')) findings.warn(at, `the label ${show(label)} has a ":", and will be cut there`);
}
