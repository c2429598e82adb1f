import { join } from 'node:path';
import { run } from '@slipway/tools/run';

export interface Load {
  port: number;
  path: string;
  token: string;
  accept: string;
  /** The file with the expected response. */
  expect: string;
  clients: number;
  requests: number;
}

export interface LoadReport {
  failed: number;
  errors: string[];
  seconds: number;
  medianMs: number;
  p99Ms: number;
}

/** A separate process, so that the clients' work is not counted as the server's. */
export async function buildLoadGenerator(directory: string): Promise<(load: Load) => Promise<LoadReport>> {
  const binary = join(directory, 'load');
  await run('go', ['build', '-trimpath', '-o', binary, '.'], {
    cwd: join(import.meta.dirname, 'load'),
    env: { ...process.env, GOTOOLCHAIN: 'local' },
  });
  return async ({ port, ...load }) => {
    const flags = Object.entries({ address: `127.0.0.1:${port}`, ...load }).map(([name, value]) => `-${name}=${value}`);
    return JSON.parse(await run(binary, flags)) as LoadReport;
  };
}
