// Disks and their partitions.
import { type Findings, show } from '../report.ts';
import { utf8Length } from '../utf8.ts';
import type { Disk, Partition } from './noun.ts';
import { pathProblem } from './path.ts';

export const GUID = /^(?:|[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12})$/;
export const LABEL_BYTES = 36;

export function checkDisk(disk: Disk, at: string, findings: Findings): void {
  const partitions = disk.partitions ?? [];
  partitions.forEach((partition, index) => checkPartition(partition, `${at}.partitions[${index}]`, findings));
  const problem = disk.device === '' ? 'the device of the disk is missing' : pathProblem(disk.device);
  if (problem !== null) findings.error(`${at}.device`, problem);
  const twice = repeated(partitions.map(({ number }) => (number === 0 ? undefined : number)));
  if (twice !== null)
    findings.error(`${at}.partitions[${twice}]`, 'the partition number is taken by another partition');
  const overlap = findOverlap(partitions.map((partition) => spanOf(partition.startMiB, partition.sizeMiB)));
  if (overlap !== null) {
    findings.error(`${at}.partitions[${overlap[1]}]`, `the partition overlaps partitions[${overlap[0]}]`);
  }
  const label = repeated(partitions.map((partition) => partition.label));
  if (label !== null) findings.error(`${at}.partitions[${label}].label`, 'the label is taken by another partition');
}

function checkPartition(partition: Partition, at: string, findings: Findings): void {
  const { number, label, shouldExist } = partition;
  if (shouldExist === false && describesPartition(partition)) {
    findings.error(at, 'a partition that should not exist has no label, guid, typeGuid, startMiB or sizeMiB');
  }
  if ((number ?? 0) === 0 && label === undefined) {
    findings.error(at, 'the partition has neither a label nor a number of 1 or more');
  }
  if (label !== undefined) checkLabel(label, `${at}.label`, findings);
  for (const name of ['guid', 'typeGuid'] as const) {
    const guid = partition[name];
    if (guid !== undefined && !GUID.test(guid)) findings.error(`${at}.${name}`, guidProblem(guid));
  }
}

export function guidProblem(guid: string): string {
  return `${show(guid)} is no GUID: expected one like 01234567-89AB-CDEF-EDCB-A98765432101`;
}

function describesPartition(partition: Partition): boolean {
  const { label, guid, typeGuid, startMiB, sizeMiB } = partition;
  return label !== undefined || Boolean(guid) || Boolean(typeGuid) || startMiB !== undefined || sizeMiB !== undefined;
}

function checkLabel(label: string, at: string, findings: Findings): void {
  const length = utf8Length(label);
  if (length > LABEL_BYTES)
    findings.error(at, `the label ${show(label)} has ${length} bytes: at most ${LABEL_BYTES} fit`);
  else if (label.includes(':')) findings.error(at, `the label ${show(label)} has a ":", and would be cut there`);
}

/** Index of the first value that came before; undefined ones are not compared. */
export function repeated(values: readonly (string | number | undefined)[]): number | null {
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

/** Where a partition lies, or null when that is for the partitioning tool to decide. A size of 0 takes what is left. */
export function spanOf(start: number | undefined, size: number | undefined): Span | null {
  if (start === undefined || size === undefined || start === 0) return null;
  return { start, end: size === 0 ? start : start + size - 1 };
}

interface Placed extends Span {
  readonly index: number;
}

type Pair = readonly [number, number];

/** Two partitions that overlap, by index. In order of their starts, only neighbours need a look. */
export function findOverlap(spans: readonly (Span | null)[]): Pair | null {
  const placed = spans
    .flatMap((span, index): Placed[] => (span === null ? [] : [{ start: span.start, end: span.end, index }]))
    .sort((a, b) => a.start - b.start);
  const backward = placed.filter(isBackward);
  const forward = backward.length === 0 ? placed : placed.filter((span) => !isBackward(span));
  return findNeighbours(forward) ?? findAround(placed, backward) ?? findInside(forward, backward);
}

/** A negative size makes a span that ends before it starts: the client takes it, and compares its two ends. */
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

/** A span that has an end of a backward one in it. */
function findInside(sorted: readonly Placed[], backward: readonly Placed[]): Pair | null {
  for (const span of backward) {
    for (const place of [span.start, span.end]) {
      const other = lastFrom(sorted, place);
      if (other !== undefined && place <= other.end) return [other.index, span.index];
    }
  }
  return null;
}

/** The last span that starts at this place or before, by halving. */
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
