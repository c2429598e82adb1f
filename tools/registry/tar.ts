import { createCipheriv, createHash } from 'node:crypto';
import { posix } from 'node:path';

/** One entry of a layer, by its path from the root of the image, such as `release-manifests/image-references`. */
export type LayerFile =
  | { path: string; contents: string | Uint8Array }
  /** This many incompressible bytes; the same for the same path and number. */
  | { path: string; randomBytes: number }
  /** This many zeros, which compress to a thousandth. */
  | { path: string; zeroBytes: number }
  | { path: string; symlink: string }
  /** Removes what lower layers have there: a file, or a directory with its contents. */
  | { path: string; whiteout: true }
  /** Removes what lower layers have in this directory; the contents from this layer stay. */
  | { path: string; opaque: true };

const BLOCK = 512;
const CHUNK = 1 << 20;

/** The layer as a tar archive (POSIX ustar), in pieces of at most 1 MiB: a layer never has to fit in memory. */
export function* buildTar(files: readonly LayerFile[]): Generator<Uint8Array> {
  const directories = new Set<string>();
  for (const file of files) {
    for (const directory of listParents(file.path)) {
      if (directories.has(directory)) continue;
      directories.add(directory);
      yield buildHeader({ path: `${directory}/`, type: '5', size: 0, mode: 0o755 });
    }
    yield* buildEntry(file);
  }
  // Two empty blocks are the end.
  yield Buffer.alloc(2 * BLOCK);
}

function* buildEntry(file: LayerFile): Generator<Uint8Array> {
  if ('symlink' in file) {
    yield buildHeader({ path: file.path, type: '2', size: 0, mode: 0o777, target: file.symlink });
    return;
  }
  const { path, size, contents } = buildContents(file);
  yield buildHeader({ path, type: '0', size, mode: 0o644 });
  yield* contents;
  yield Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

interface Contents {
  path: string;
  size: number;
  contents: Iterable<Uint8Array>;
}

function buildContents(file: Exclude<LayerFile, { symlink: string }>): Contents {
  const { path } = file;
  if ('contents' in file) {
    const bytes = typeof file.contents === 'string' ? Buffer.from(file.contents) : file.contents;
    return { path, size: bytes.length, contents: [bytes] };
  }
  if ('randomBytes' in file) return { path, size: file.randomBytes, contents: incompressible(path, file.randomBytes) };
  if ('zeroBytes' in file) return { path, size: file.zeroBytes, contents: zeros(file.zeroBytes) };
  // The whiteout files of the OCI image specification.
  const mark =
    'opaque' in file ? `${path}/.wh..wh..opq` : posix.join(posix.dirname(path), `.wh.${posix.basename(path)}`);
  return { path: mark, size: 0, contents: [] };
}

function* zeros(size: number): Generator<Uint8Array> {
  const chunk = Buffer.alloc(CHUNK);
  for (let left = size; left > 0; left -= CHUNK) yield chunk.subarray(0, Math.min(left, CHUNK));
}

/** A key stream: as good as random, and faster than a random source. */
function* incompressible(seed: string, size: number): Generator<Uint8Array> {
  const key = createHash('sha256').update(seed).digest().subarray(0, 16);
  const cipher = createCipheriv('aes-128-ctr', key, Buffer.alloc(16));
  for (const chunk of zeros(size)) yield cipher.update(chunk);
}

function listParents(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

interface Header {
  path: string;
  type: '0' | '2' | '5';
  size: number;
  mode: number;
  target?: string;
}

function buildHeader({ path, type, size, mode, target = '' }: Header): Uint8Array {
  if (Buffer.byteLength(path) > 100 || Buffer.byteLength(target) > 100) {
    throw new RangeError(`${path}: expected a path of at most 100 bytes in a test image`);
  }
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, width: number) =>
    header.write(value.toString(8).padStart(width - 1, '0'), at, 'latin1');
  header.write(path, 0);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  header.write(type, 156);
  header.write(target, 157);
  header.write('ustar\u000000', 257, 'latin1');
  // The checksum is computed with spaces in its own field.
  header.fill(' ', 148, 156);
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  header.write('\0 ', 154, 'latin1');
  return header;
}
