// What a pool is rendered from: its MachineConfigs, selected and made ready, and its OS images, with all that stands in the
// way. Where MachineConfigs come from and how their remote content is had is the caller's business.
import type { MachineConfig, MachineConfigPool } from '@slipway/api';
import type { CodedProblem } from '../problems.ts';
import type { RenderInput } from './input.ts';
import type { RenderImages } from './machine-settings.ts';
import type { RenderRequest } from './render-pool.ts';
import { selectMachineConfigs, selectorProblems } from './select.ts';

/** A MachineConfig made ready to merge, with its remote content in it, or why it cannot be. */
export type ReadInput =
  | { readonly ok: true; readonly input: RenderInput }
  | { readonly ok: false; readonly problems: readonly CodedProblem[] };

export interface RenderSources<T extends MachineConfig> {
  /** Of the whole fleet. */
  readonly machineConfigs: Iterable<T>;
  /** `waiting`: it is not ready yet. */
  readonly read: (machineConfig: T) => ReadInput | 'waiting' | Promise<ReadInput | 'waiting'>;
  /** Names of MachineConfigs that the pool cannot be without, and that are not there yet. */
  readonly missing?: readonly string[];
  /** Null: nobody has said yet which ones. */
  readonly images: (RenderImages & { readonly problems?: readonly CodedProblem[] }) | null;
  readonly controllerVersion: string;
}

export interface PreparedRender<T extends MachineConfig> {
  /** In the order of the merge. */
  readonly selected: readonly T[];
  /** Of those that are ready, in the same order. */
  readonly inputs: readonly RenderInput[];
  readonly problems: readonly CodedProblem[];
  /** Names of MachineConfigs that are not there or not ready yet. */
  readonly waiting: readonly string[];
  /** Null: there are problems, or something is waited for. */
  readonly request: RenderRequest | null;
}

export async function prepareRender<T extends MachineConfig>(
  pool: MachineConfigPool,
  { machineConfigs, read, missing = [], images, controllerVersion }: RenderSources<T>,
): Promise<PreparedRender<T>> {
  const selected = selectMachineConfigs(pool, machineConfigs);
  const inputs: RenderInput[] = [];
  const problems: CodedProblem[] = [...selectorProblems(pool), ...(images?.problems ?? [])];
  const waiting = [...missing];
  // One after the other: each may fetch, with a limit of its own on what it holds.
  for (const machineConfig of selected) {
    const result = await read(machineConfig);
    if (result === 'waiting') waiting.push(machineConfig.metadata.name);
    else if (result.ok) inputs.push(result.input);
    else problems.push(...result.problems);
  }
  const isReady = problems.length === 0 && waiting.length === 0;
  return {
    selected,
    inputs,
    problems,
    waiting,
    request: isReady && images !== null ? buildRenderRequest(pool, inputs, images, controllerVersion) : null,
  };
}

function buildRenderRequest(
  { metadata }: MachineConfigPool,
  inputs: readonly RenderInput[],
  { osImages, osStream }: RenderImages,
  controllerVersion: string,
): RenderRequest {
  return { pool: metadata.name, inputs, osImages, osStream, controllerVersion };
}
