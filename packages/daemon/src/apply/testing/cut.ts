// An update with a power cut at every moment and with every disk that may result, and the resulting machine.
import { bootSimulatedMachine } from '@slipway/simulator';
import type { FileSystem } from '../../host/file-system.ts';
import { copyImage, type DiskImage } from '../../host/testing/disk-image.ts';
import { createMemoryDisk, type Note } from '../../host/testing/memory-disk.ts';
import { type CutOptions, disksAfterCuts } from '../../host/testing/power-cut.ts';
import { recoverToEnd, updateToEnd } from './sample-machine.ts';
import { judge, type Sample } from './sample.ts';

export interface CutTally {
  /** Moments of the power cut: after each note. */
  moments: number;
  /** Distinct disks that it left. */
  disks: number;
  old: number;
  new: number;
  readonly problems: string[];
}

export interface CutRun extends CutOptions {
  /** Syncs do nothing, as on a disk that lies: shows that the test detects missing syncs. */
  readonly withoutSyncs?: boolean;
  /** Only every n-th disk, from `first` on. */
  readonly every?: { readonly first: number; readonly step: number };
}

export async function cutEverywhere(sample: Sample, run: CutRun): Promise<CutTally> {
  const notes = await record(sample, run.withoutSyncs ?? false);
  const tally: CutTally = { moments: notes.length + 1, disks: 0, old: 0, new: 0, problems: [] };
  const { first, step } = run.every ?? { first: 0, step: 1 };
  let count = 0;
  for (const { at, disk } of disksAfterCuts(sample.image, notes, run)) {
    if ((count++ - first) % step !== 0) continue;
    tally.disks += 1;
    await powerOn(sample, disk, tally, `${sample.update.name}, power cut after note ${at}: ${describe(notes[at - 1])}`);
  }
  return tally;
}

async function record({ image, update }: Sample, withoutSyncs: boolean): Promise<Note[]> {
  const notes: Note[] = [];
  const disk = createMemoryDisk(copyImage(image), (note) => notes.push(note));
  await updateToEnd(withoutSyncs ? ignoreSyncs(disk) : disk, update);
  return notes;
}

function ignoreSyncs(disk: FileSystem): FileSystem {
  return { ...disk, syncFile: () => Promise.resolve(), syncDirectory: () => Promise.resolve() };
}

async function powerOn(sample: Sample, image: DiskImage, tally: CutTally, where: string): Promise<void> {
  try {
    const files = createMemoryDisk(image);
    await bootSimulatedMachine(files, 'power cut');
    const { at, problems } = await judge(files, sample, await recoverToEnd(files, sample.update));
    if (at !== 'a mix') tally[at] += 1;
    tally.problems.push(...problems.map((problem) => `${where}: ${problem}`));
  } catch (error) {
    tally.problems.push(`${where}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
}

function describe(note: Note | undefined): string {
  if (note === undefined) return 'nothing';
  if (note.kind === 'names') return note.set.map(({ name, inode }) => `${name} → ${inode}`).join(', ');
  return `${note.kind} ${note.number}`;
}
