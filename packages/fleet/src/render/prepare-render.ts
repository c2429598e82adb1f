// The input of a render: the selected and prepared MachineConfigs of a pool and its OS images, or the problems with
// them. The caller provides the MachineConfigs and their remote content.
import type { MachineConfig, MachineConfigPool } from '@slipway/api';
import type { CodedProblem } from '../problems.ts';
import type { RenderInput } from './input.ts';
import type { RenderImages } from './machine-settings.ts';
import type { RenderRequest } from './render-pool.ts';
import { selectMachineConfigs, selectorProblems } from './select.ts';

/** A MachineConfig prepared for the merge, with its remote content, or the problems with it. */
export type ReadInput =
  | { readonly ok: true; readonly input: RenderInput }
  | { readonly ok: false; readonly problems: readonly CodedProblem[] };

export interface RenderSources<T extends MachineConfig> {
  /** Of the whole fleet. */
  readonly machineConfigs: Iterable<T>;
  /** `waiting`: it is not ready yet. */
  readonly read: (machineConfig: T) => ReadInput | 'waiting' | Promise<ReadInput | 'waiting'>;
  /** Names of MachineConfigs that the pool requires and that do not exist yet. */
  readonly missing?: readonly string[];
  /** Null: not known yet. */
  readonly images: (RenderImages & { readonly problems?: readonly CodedProblem[] }) | null;
  readonly controllerVersion: string;
}

export interface PreparedRender<T extends MachineConfig> {
  /** In merge order. */
  readonly selected: readonly T[];
  /** Of those that are ready, in the same order. */
  readonly inputs: readonly RenderInput[];
  readonly problems: readonly CodedProblem[];
  /** Names of MachineConfigs that do not exist or are not ready yet. */
  readonly waiting: readonly string[];
  /** Null: there are problems, or something is not ready yet. */
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
  // Sequential: each may fetch, with a separate limit on memory.
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
