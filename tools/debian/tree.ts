import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** One checksum over the names and contents of everything below a directory. */
export async function sumTree(directory: string): Promise<string> {
  const hash = createHash('sha256');
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.map((entry) => ({ entry, path: join(entry.parentPath, entry.name).slice(directory.length) }));
  for (const { entry, path } of paths.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    if (entry.isSymbolicLink()) hash.update(`${path} -> ${await readlink(join(directory, path))}\n`);
    if (!entry.isFile()) continue;
    const contents = createHash('sha256');
    for await (const chunk of createReadStream(join(directory, path), { highWaterMark: 1 << 20 })) {
      contents.update(chunk as Buffer);
    }
    hash.update(`${path} ${contents.digest('hex')}\n`);
  }
  return hash.digest('hex');
}
