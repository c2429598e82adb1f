import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory that is deleted at the end of the block that created it. */
export interface Scratch extends AsyncDisposable {
  readonly path: string;
}

export async function makeScratch(): Promise<Scratch> {
  const path = await mkdtemp(join(tmpdir(), 'slipway-kube-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
