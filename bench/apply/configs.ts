import type { StoredConfig } from '@slipway/daemon';

export interface BenchFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

const MIN_FILE_BYTES = 1024;
const MAX_FILE_BYTES = 4096;

/** Files of 1 to 4 kB in the directories that configs usually use. `generation` changes the contents, not the sizes. */
export function benchFiles(count: number, generation: number): BenchFile[] {
  return Array.from({ length: count }, (_, index) => {
    const size = MIN_FILE_BYTES + Math.floor(((index * 7919) % count) * ((MAX_FILE_BYTES - MIN_FILE_BYTES) / count));
    const line = `# setting ${index} of generation ${generation}\nserver = 10.0.${index % 256}.1\n`;
    const bytes = Buffer.from(line.repeat(Math.ceil(size / line.length))).subarray(0, size);
    return { path: `/etc/bench/${index % 10}.d/${index}.conf`, bytes };
  });
}

export function buildConfig(name: string, files: readonly BenchFile[]): StoredConfig {
  const entries = files.map(({ path, bytes }) => ({
    path,
    mode: 0o644,
    overwrite: true,
    contents: { source: `data:;base64,${Buffer.from(bytes).toString('base64')}` },
  }));
  return { name, spec: { config: { ignition: { version: '3.5.0' }, storage: { files: entries } } } };
}
