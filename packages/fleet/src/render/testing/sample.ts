// MachineConfigs and pools for tests: each sets only what the test is about.
import { type MachineConfig, type MachineConfigPool, ROLE_LABEL } from '@slipway/api';
import { encodeDataUrl } from '@slipway/ignition';
import { readMachineConfig, type RenderInput } from '../input.ts';
import { renderPool, type RenderRequest, type RenderResult } from '../render-pool.ts';
import { selectMachineConfigs } from '../select.ts';

export const workerPool: MachineConfigPool = {
  metadata: { name: 'worker' },
  spec: { machineConfigSelector: { matchLabels: { [ROLE_LABEL]: 'worker' } } },
};

export function machineConfig(
  name: string,
  spec: NonNullable<MachineConfig['spec']> = {},
  role = 'worker',
): MachineConfig {
  return { metadata: { name, labels: { [ROLE_LABEL]: role } }, spec };
}

/** A config of spec 3.5.0 with these sections. */
export function ignition(sections: object): Record<string, unknown> {
  return { ignition: { version: '3.5.0' }, ...sections };
}

export function file(path: string, text: string, more: object = {}): object {
  return { path, mode: 0o644, contents: { source: dataUrl(text) }, ...more };
}

export function withFiles(...files: object[]): NonNullable<MachineConfig['spec']> {
  return { config: ignition({ storage: { files } }) };
}

export function dataUrl(text: string): string {
  return encodeDataUrl(new TextEncoder().encode(text));
}

export async function readInput(config: MachineConfig): Promise<RenderInput> {
  const read = await readMachineConfig(config);
  if (!read.ok) throw new Error(read.problems.map(({ message }) => message).join('\n'));
  return read.input;
}

/** Selects, reads and renders as the controller does. */
export async function render(
  configs: Iterable<MachineConfig>,
  more: Partial<RenderRequest> = {},
): Promise<RenderResult> {
  const inputs = await Promise.all(selectMachineConfigs(workerPool, configs).map(readInput));
  return renderPool({ pool: 'worker', inputs, osImages: {}, controllerVersion: '1.0.0', ...more });
}

export async function renderOk(
  configs: Iterable<MachineConfig>,
  more: Partial<RenderRequest> = {},
): Promise<Extract<RenderResult, { ok: true }>> {
  const result = await render(configs, more);
  if (!result.ok) throw new Error(result.problems.map(({ message }) => message).join('\n'));
  return result;
}
