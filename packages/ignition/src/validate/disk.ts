// Disks and their partitions; the rules of spec 2.x have a 2 in their names.
import { isAbsolute } from '../posix-path.ts';
import { type Findings, show } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { type Disk, type Partition, pathProblem, utf8Length } from './rules.ts';

const GUID = /^(?:|[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12})$/;
const LABEL_BYTES = 36;

export function checkDisk(disk: Disk, at: string, findings: Findings): void {
  const partitions = disk.partitions ?? [];
  partitions.forEach((partition, index) => checkPartition(partition, `${at}.partitions[${index}]`, findings));
  const problem = disk.device === '' ? 'the device of the disk is missing' : pathProblem(disk.device);
  if (problem !== null) findings.error(`${at}.device`, problem);
  const spans = partitions.map((partition) => computeSpan(partition.startMiB, partition.sizeMiB));
  checkPlaces(partitions, spans, at, findings);
  const label = repeated(partitions.map((partition) => partition.label));
  if (label !== null) findings.error(`${at}.partitions[${label}].label`, 'another partition has the same label');
}

function checkPartition(partition: Partition, at: string, findings: Findings): void {
  const { number, label, shouldExist } = partition;
  if (shouldExist === false && describesPartition(partition)) {
    findings.error(at, 'a partition with shouldExist: false must not have label, guid, typeGuid, startMiB or sizeMiB');
  }
  if ((number ?? 0) === 0 && label === undefined) {
    findings.error(at, 'the partition has neither a label nor a number greater than 0');
  }
  if (label !== undefined) checkLabel(label, `${at}.label`, findings);
  for (const name of ['guid', 'typeGuid'] as const) {
    const guid = partition[name];
    if (guid !== undefined && !GUID.test(guid)) findings.error(`${at}.${name}`, guidProblem(guid));
  }
}

function guidProblem(guid: string): string {
  return `${show(guid)} is not a GUID: expected one like 01234567-89AB-CDEF-EDCB-A98765432101`;
}

function describesPartition(partition: Partition): boolean {
  const { label, guid, typeGuid, startMiB, sizeMiB } = partition;
  return label !== undefined || Boolean(guid) || Boolean(typeGuid) || startMiB !== undefined || sizeMiB !== undefined;
}

function checkLabel(label: string, at: string, findings: Findings): void {
  const length = utf8Length(label);
  if (length > LABEL_BYTES)
    findings.error(at, `the label ${show(label)} has ${length} bytes: expected at most ${LABEL_BYTES}`);
  else if (label.includes(':')) findings.error(at, `the label ${show(label)} contains ":" and would be cut off there`);
}

// Spec 2.x.

type Disk2 = NonNullable<NonNullable<ConfigOf<'2.4.0'>['storage']>['disks']>[number];
type Partition2 = NonNullable<Disk2['partitions']>[number];

/** Sectors per MiB: partitions must start at a multiple of it. */
const ALIGNMENT = 2048;

export function checkDisk2(disk: Disk2, at: string, plainNumbers: boolean, findings: Findings): void {
  if (!isAbsolute(disk.device))
    findings.error(`${at}.device`, `the device ${show(disk.device)} is not an absolute path`);
  const partitions = disk.partitions ?? [];
  partitions.forEach((partition, index) => checkPartition2(partition, `${at}.partitions[${index}]`, findings));
  checkPlaces(partitions, computeSpans(partitions, plainNumbers), at, findings);
  if (partitions.some(({ start }) => (start ?? 0) % ALIGNMENT !== 0)) {
    findings.error(`${at}.partitions`, `a partition does not start at a multiple of ${ALIGNMENT} sectors`);
  }
  if (!plainNumbers) checkMixtures(partitions, at, findings);
}

/** In 2.2 the client treats two partitions with equal fields as one. */
function computeSpans(partitions: readonly Partition2[], plainNumbers: boolean): (Span | null)[] {
  if (!plainNumbers) return partitions.map(({ start, size }) => computeSpan(start, size));
  const seen = new Set<string>();
  return partitions.map((partition) => {
    const text = JSON.stringify(partition);
    if (seen.has(text)) return null;
    seen.add(text);
    return computeSpan(partition.start ?? 0, partition.size ?? 0);
  });
}

function checkMixtures(partitions: readonly Partition2[], at: string, findings: Findings): void {
  const hasZero = partitions.some(({ number }) => (number ?? 0) === 0);
  if (hasZero && partitions.some(({ shouldExist }) => shouldExist === false)) {
    findings.error(`${at}.partitions`, 'if one partition has shouldExist: false, every partition needs a number');
  }
  if (partitions.some(usesSectors) && partitions.some(usesMiB)) {
    findings.error(`${at}.partitions`, 'sizes are in both sectors and MiB: use only sizeMiB and startMiB');
  }
}

function usesSectors({ size, start }: Partition2): boolean {
  return size !== undefined || start !== undefined;
}

function usesMiB({ sizeMiB, startMiB }: Partition2): boolean {
  return sizeMiB !== undefined || startMiB !== undefined;
}

function checkPartition2(partition: Partition2, at: string, findings: Findings): void {
  if (partition.shouldExist === false && describesPartition2(partition)) {
    findings.error(at, 'a partition with shouldExist: false must not have label, guid, typeGuid, start or size');
  }
  for (const name of ['guid', 'typeGuid'] as const) {
    const value = partition[name] ?? '';
    if (!GUID.test(value)) findings.error(`${at}.${name}`, guidProblem(value));
  }
  if (partition.label !== undefined) checkLabel2(partition.label, `${at}.label`, findings);
}

function describesPartition2(partition: Partition2): boolean {
  const { label, guid, typeGuid } = partition;
  return label !== undefined || Boolean(guid) || Boolean(typeGuid) || usesSectors(partition);
}

function checkLabel2(label: string, at: string, findings: Findings): void {
  const length = utf8Length(label);
  if (length > LABEL_BYTES)
    findings.error(at, `the label ${show(label)} has ${length} bytes: expected at most ${LABEL_BYTES}`);
  if (label.includes(':')) findings.warn(at, `the label ${show(label)} contains ":" and will be cut off there`);
}

/** Checks that no two partitions have the same number or overlap. */
function checkPlaces(
  partitions: readonly { readonly number?: number }[],
  spans: readonly (Span | null)[],
  at: string,
  findings: Findings,
): void {
  const twice = repeated(partitions.map(({ number }) => (number === 0 ? undefined : number)));
  if (twice !== null) findings.error(`${at}.partitions[${twice}]`, 'another partition has the same number');
  const overlap = findOverlap(spans);
  if (overlap !== null) {
    findings.error(`${at}.partitions[${overlap[1]}]`, `the partition overlaps partitions[${overlap[0]}]`);
  }
}

/** Index of the first duplicate value; undefined ones are not compared. */
function repeated(values: readonly (string | number | undefined)[]): number | null {
  const seen = new Set<string | number>();
  for (const [index, value] of values.entries()) {
    if (value === undefined) continue;
    if (seen.has(value)) return index;
    seen.add(value);
  }
  return null;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The span of a partition, or null if the partitioning tool decides it. A size of 0 means the remaining space. */
export function computeSpan(start: number | undefined, size: number | undefined): Span | null {
  if (start === undefined || size === undefined || start === 0) return null;
  return { start, end: size === 0 ? start : start + size - 1 };
}

interface Placed extends Span {
  readonly index: number;
}

type Pair = readonly [number, number];

/** Two overlapping partitions, by index. Sorted by start, only neighbours need to be compared. */
export function findOverlap(spans: readonly (Span | null)[]): Pair | null {
  const placed = spans
    .flatMap((span, index): Placed[] => (span === null ? [] : [{ start: span.start, end: span.end, index }]))
    .sort((a, b) => a.start - b.start);
  const backward = placed.filter(isBackward);
  const forward = backward.length === 0 ? placed : placed.filter((span) => !isBackward(span));
  return findNeighbours(forward) ?? findAround(placed, backward) ?? findInside(forward, backward);
}

/** A negative size makes a span that ends before it starts: the client accepts it, and compares both ends. */
function isBackward(span: Span): boolean {
  return span.end < span.start;
}

function findNeighbours(sorted: readonly Placed[]): Pair | null {
  let last: Placed | undefined;
  for (const span of sorted) {
    if (last !== undefined && span.start <= last.end) return [last.index, span.index];
    last = span;
  }
  return null;
}

/** A span that starts before a backward one and ends after its end. */
function findAround(sorted: readonly Placed[], backward: readonly Placed[]): Pair | null {
  let next = 0;
  let farthest: Placed | undefined;
  for (const span of backward) {
    for (let other = sorted[next]; other !== undefined && other.start < span.start; other = sorted[next]) {
      if (farthest === undefined || other.end > farthest.end) farthest = other;
      next += 1;
    }
    if (farthest !== undefined && farthest.end > span.end) return [farthest.index, span.index];
  }
  return null;
}

/** A span that contains an end of a backward one. */
function findInside(sorted: readonly Placed[], backward: readonly Placed[]): Pair | null {
  for (const span of backward) {
    for (const place of [span.start, span.end]) {
      const other = lastFrom(sorted, place);
      if (other !== undefined && place <= other.end) return [other.index, span.index];
    }
  }
  return null;
}

/** The last span that starts at or before this position, by binary search. */
function lastFrom(sorted: readonly Placed[], place: number): Placed | undefined {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((sorted[middle]?.start ?? Infinity) <= place) low = middle + 1;
    else high = middle;
  }
  return sorted[low - 1];
}
