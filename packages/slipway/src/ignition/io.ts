// The process as the ignition commands see it, so that tests can run them without one.
import type { Writable } from 'node:stream';

export interface Io {
  stdin: AsyncIterable<Uint8Array>;
  stdout: Writable;
  stderr: Writable;
  setExitCode: (code: number) => void;
}

export const processIo: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  setExitCode: (code) => {
    process.exitCode = code;
  },
};

/** Done when the text is handed on, so that a slow reader slows the writer. */
export function write(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (failure) => (failure ? reject(failure) : resolve()));
  });
}
