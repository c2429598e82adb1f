import { extract } from 'tar-stream';
import type { FileSearch } from './file-search.ts';

/** An archive that is searched while it comes in: nothing of it is kept but the content that the search wants. */
export interface TarSearch {
  /** Done when the bytes are looked through. */
  write(chunk: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

export function searchTar(search: FileSearch): TarSearch {
  const archive = extract();
  let failure: Error | undefined;
  let wake = (): void => {};

  archive.on('entry', (header, content, next) => {
    const chunks: Uint8Array[] = [];
    const wanted = search.see(header);
    content.on('data', (chunk) => {
      if (wanted && chunk instanceof Uint8Array) chunks.push(chunk);
    });
    content.on('end', () => {
      if (wanted) search.take(Buffer.concat(chunks));
      next();
    });
    content.on('error', () => {});
  });
  archive.on('error', (error: Error) => {
    failure = error;
  });
  for (const event of ['drain', 'finish', 'close'] as const) archive.on(event, () => wake());

  const settled = (): Promise<void> =>
    new Promise((resolve, reject) => {
      wake = () => (failure === undefined ? resolve() : reject(failure));
      if (failure !== undefined) reject(failure);
    });

  return {
    async write(chunk) {
      if (failure !== undefined) throw failure;
      if (!archive.write(chunk)) await settled();
    },
    async end() {
      const done = settled();
      archive.end(null);
      await done;
    },
  };
}
