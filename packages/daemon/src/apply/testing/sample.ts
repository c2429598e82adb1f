// A sample update with the machine before and after it, and the verdict on a disturbed machine.
import { type FileSystem, ownOwners } from '../../host/file-system.ts';
import { copyImage, type DiskImage, emptyImage } from '../../host/testing/disk-image.ts';
import { createMemoryDisk } from '../../host/testing/memory-disk.ts';
import { UPDATE_DIRECTORY } from '../../state-file.ts';
import { readCurrentConfig } from '../../stored-config.ts';
import type { UpdateResult } from '../updater.ts';
import { makeSampleMachine, updateToEnd } from './sample-machine.ts';
import { type SampleName, sampleUpdate, type SampleUpdate } from './sample-update.ts';
import { differences, type Snapshot, takeSnapshot } from './snapshot.ts';

/** The allowed states of the machine. */
export interface Ends {
  readonly update: SampleUpdate;
  readonly old: Snapshot;
  /** Null if the update never ends there. */
  readonly next: Snapshot | null;
}

export interface Sample extends Ends {
  /** The machine before the update. */
  readonly image: DiskImage;
}

export async function makeSample(name: SampleName): Promise<Sample> {
  const update = await sampleUpdate(name);
  const image = emptyImage(ownOwners());
  await makeSampleMachine(createMemoryDisk(image), update);
  const old = await takeSnapshot(createMemoryDisk(image));
  const files = createMemoryDisk(copyImage(image));
  const result = await updateToEnd(files, update);
  if (result.outcome !== update.endsAt) throw new Error(`${name}, undisturbed, ends so: ${JSON.stringify(result)}`);
  const end = await takeSnapshot(files);
  return { update, image, old, next: update.endsAt === 'new' ? end : null };
}

export interface Verdict {
  readonly at: 'old' | 'new' | 'a mix';
  /** Empty: the machine matches the result, and nothing of the update is left. */
  readonly problems: readonly string[];
}

/** Checks that the machine matches the result, and that nothing of the update is left. */
export async function judge(files: FileSystem, sample: Ends, result: UpdateResult): Promise<Verdict> {
  const verdict = await judgeConfig(files, sample, result);
  if (verdict.at === 'a mix' || (await files.lookAt(UPDATE_DIRECTORY)) === null) return verdict;
  return mix([`${UPDATE_DIRECTORY} still exists`]);
}

/** The same for a machine whose disk fails: backups and staged files may still exist, but nothing else. */
export async function judgeAtOnce(files: FileSystem, sample: Ends, result: UpdateResult): Promise<Verdict> {
  return judgeConfig(files, sample, result, (path) => /\/\.slipway-(old|new)-\d+$/.test(path));
}

async function judgeConfig(
  files: FileSystem,
  { update, old, next }: Ends,
  result: UpdateResult,
  isNoMatter: (path: string) => boolean = () => false,
): Promise<Verdict> {
  if (result.outcome === 'stuck' || result.outcome === 'rebooting')
    return mix([`it does not end: ${JSON.stringify(result)}`]);
  const said = result.outcome === 'none' ? (await readCurrentConfig(files))?.name : result.config;
  const at = said === update.to.name ? 'new' : 'old';
  const expected = at === 'new' ? next : old;
  if (expected === null) return mix([`it says that the machine is at ${said}`]);
  const found = [...(await takeSnapshot(files))].filter(([path]) => !isNoMatter(path));
  const problems = differences(expected, new Map(found));
  return problems.length > 0 ? mix(problems) : { at, problems };
}

/** The same, if only one end is right. */
export async function judgeEnd(files: FileSystem, sample: Ends, result: UpdateResult): Promise<Verdict> {
  const verdict = await judge(files, sample, result);
  const { endsAt } = sample.update;
  return verdict.at === 'a mix' || verdict.at === endsAt ? verdict : mix([`it ends at ${verdict.at}, not ${endsAt}`]);
}

function mix(problems: readonly string[]): Verdict {
  return { at: 'a mix', problems };
}
