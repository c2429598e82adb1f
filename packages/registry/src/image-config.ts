import { isRecord, parseJson } from '@slipway/base/json';
import { RegistryError } from './errors.ts';
import type { Platform } from './registry.ts';

/** What is of interest in the config of an image. */
export interface ImageConfig {
  readonly platform: Platform;
  readonly labels: Readonly<Record<string, string>>;
}

export const mostConfigBytes = 8 * 1024 * 1024;

export function parseImageConfig(bytes: Uint8Array, about: string): ImageConfig {
  const parsed = parseJson(Buffer.from(bytes).toString('utf8'));
  if (!parsed.ok || !isRecord(parsed.value)) {
    const text = `${about}: expected a JSON object, found something else. Push the image anew: its config is damaged`;
    throw new RegistryError('SLW_REGISTRY_ANSWER', text);
  }
  const { os, architecture, config } = parsed.value;
  return {
    platform: { os: textOr(os, 'unknown'), architecture: textOr(architecture, 'unknown') },
    labels: labelsIn(isRecord(config) ? config['Labels'] : undefined),
  };
}

const textOr = (value: unknown, other: string): string => (typeof value === 'string' && value !== '' ? value : other);

/** Without a prototype: a label may have any name, also that of something every object has. */
function labelsIn(value: unknown): Record<string, string> {
  const labels = Object.create(null) as Record<string, string>;
  for (const [name, text] of Object.entries(isRecord(value) ? value : {})) {
    if (typeof text === 'string') labels[name] = text;
  }
  return labels;
}
