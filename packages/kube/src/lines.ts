import { KubeError } from './errors.ts';

/** An object of 1.5 MiB (etcd's limit) with every byte escaped, and room to spare. */
const longestLine = 16 * 1024 * 1024;
const newline = 0x0a;

export interface LineSplitter {
  push(chunk: Buffer): void;
  /** Bytes of a line whose end has not come. */
  readonly pending: number;
}

/**
 * Cuts a byte stream into lines. Works on bytes, so that a character cut in two by a chunk's end is whole again
 * before it is decoded, and decodes each line once.
 */
export function createLineSplitter(onLine: (line: string) => void, longest = longestLine): LineSplitter {
  let parts: Buffer[] = [];
  let pending = 0;

  function finish(chunk: Buffer, start: number, end: number): void {
    if (parts.length === 0) {
      if (end > start) onLine(chunk.toString('utf8', start, end));
      return;
    }
    parts.push(chunk.subarray(start, end));
    const line = Buffer.concat(parts, pending + end - start).toString('utf8');
    parts = [];
    pending = 0;
    onLine(line);
  }

  return {
    get pending() {
      return pending;
    },
    push(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
        finish(chunk, start, end);
        start = end + 1;
      }
      if (start === chunk.length) return;
      parts.push(start === 0 ? chunk : chunk.subarray(start));
      pending += chunk.length - start;
      if (pending > longest) {
        throw new KubeError('SLW_KUBE_BAD_ANSWER', `a watch sent a line longer than ${longest} bytes`);
      }
    },
  };
}
