// What was asked of a simulated machine and leaves no other trace. Gone with the next boot.
import { type FileSystem, makeDirectories, type Owners, readText, replaceFile } from '@slipway/daemon/host';

export interface Done {
  readonly what: 'daemon-reload' | 'reload' | 'restart' | 'prefetch';
  /** The unit or the image; '' for all of them. */
  readonly name: string;
}

const DIRECTORY = '/run/slipway-simulated';
const DONE = `${DIRECTORY}/done`;
const MOST = 200;
const MOST_BYTES = 1024 * 1024;

export async function listDone(files: FileSystem): Promise<Done[]> {
  const lines = ((await readText(files, DONE, MOST_BYTES)) ?? '').split('\n');
  return lines.flatMap((line) => {
    const [what, name = ''] = line.split(' ');
    return what === 'daemon-reload' || what === 'reload' || what === 'restart' || what === 'prefetch'
      ? [{ what, name }]
      : [];
  });
}

export async function noteDone(files: FileSystem, owners: Owners, done: Done): Promise<void> {
  const all = [...(await listDone(files)), done].slice(-MOST);
  await makeDirectories(files, DIRECTORY, owners);
  const bytes = Buffer.from(all.map(({ what, name }) => `${what} ${name}\n`).join(''));
  // As much on the disk as anything below /run: not at all.
  await replaceFile(files, DONE, { ...owners, bytes, mode: 0o644 }, { sync: false });
}
