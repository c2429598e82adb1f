import { open } from 'node:fs/promises';
import { CommandError } from './errors.ts';
import { reasonOf } from './manifests/find-files.ts';

/** Pull secrets, certificates and registries.conf are a few kilobytes; image-references has some hundred. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The contents of a file that a flag names, which must not be large. */
export async function readSmallFile(flag: string, path: string): Promise<Uint8Array> {
  const bad = (problem: string, cause?: unknown): CommandError =>
    new CommandError('SLW_CLI_FILE', `${flag} ${path}: ${problem}`, { cause });
  try {
    await using file = await open(path);
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of file.createReadStream({ autoClose: false, end: MAX_BYTES })) {
      const bytes = chunk as Buffer;
      size += bytes.length;
      chunks.push(bytes);
    }
    if (size > MAX_BYTES) throw bad(`expected at most ${MAX_BYTES} bytes, found more`);
    return Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw bad(`it cannot be read: ${reasonOf(error)}`, error);
  }
}
