import { describe, expect, it } from 'vitest';
import type { FileSystem } from '../file-system.ts';
import { copyImage, emptyImage } from './disk-image.ts';
import { createMemoryDisk, type Note } from './memory-disk.ts';
import { disksAfterCuts } from './power-cut.ts';

const me = { uid: 0, gid: 0 };
const newFile = (text: string) => ({ bytes: Buffer.from(text), mode: 0o600, ...me });

/** All possible contents of /f and its directory after a power cut during or after the calls. */
async function afterCuts(
  act: (files: FileSystem) => Promise<void>,
  first: (files: FileSystem) => Promise<void> = async () => {},
) {
  const image = emptyImage(me);
  await createMemoryDisk(image).createFile('/f', newFile('old!'));
  await first(createMemoryDisk(image));
  const notes: Note[] = [];
  await act(createMemoryDisk(copyImage(image), (note) => notes.push(note)));
  const seen = new Set<string>();
  for (const { at, disk } of disksAfterCuts(image, notes, { subsets: 'many' })) {
    const files = createMemoryDisk(disk);
    const there = await files.lookAt('/f');
    const text = there?.kind === 'file' ? Buffer.from(await files.read('/f', 100)).toString() : String(there?.kind);
    seen.add(`${at === notes.length ? 'end' : 'during'}: ${text}`);
  }
  return [...seen].toSorted();
}

describe('after a power cut', () => {
  it('a file that was renamed without a sync may be empty, partial, or the old one', async () => {
    const seen = await afterCuts(async (files) => {
      await files.createFile('/t', newFile('new!'));
      await files.rename('/t', '/f');
    });
    expect(seen).toContain('end: ');
    expect(seen).toContain('end: ne');
    expect(seen).toContain('end: new!');
    expect(seen).toContain('during: old!');
  });

  it('a file that was synced and then renamed is complete, either old or new', async () => {
    const seen = await afterCuts(async (files) => {
      await files.createFile('/t', newFile('new!'));
      await files.syncFile('/t');
      await files.rename('/t', '/f');
    });
    expect(seen).toEqual(['during: old!', 'end: new!']);
  });

  it('a rename is durable once the directory was synced', async () => {
    const seen = await afterCuts(async (files) => {
      await files.createFile('/t', newFile('new!'));
      await files.syncFile('/t');
      await files.rename('/t', '/f');
      await files.syncDirectory('/');
      await files.makeDirectory('/d', { mode: 0o755, ...me });
      await files.createFile('/d/x', newFile('x'));
    });
    expect(seen.filter((each) => each.startsWith('end'))).toEqual(['end: new!']);
  });

  it('a write in place may be partial until it is synced', async () => {
    const write = (files: FileSystem) => files.overwrite('/f', 0, Buffer.from('NEW?'));
    expect(await afterCuts(write)).toEqual(['during: old!', 'end: NEW?', 'end: NEd!']);
  });

  it('a removed name may return until the directory is synced', async () => {
    const seen = await afterCuts(
      async (files) => {
        await files.remove('/f');
        await files.createFile('/g', newFile('g'));
        await files.syncDirectory('/');
        await files.setMode('/g', 0o644);
      },
      (files) => files.makeDirectory('/d', { mode: 0o755, ...me }),
    );
    expect(seen).toEqual(['during: old!', 'during: undefined', 'end: undefined']);
  });
});
