// Merges parsed configs, for the command and for a batch line.
import {
  type AnyConfig,
  type Config3,
  hasErrors,
  merge,
  type Provenance,
  type Report,
  type SpecVersion,
  type SpecVersion3,
  translate,
} from '@slipway/ignition';

export interface Combined {
  result: AnyConfig | null;
  report: Report;
  provenance?: Provenance;
}

/** The spec version of rendered configs. */
export const DEFAULT_TARGET = '3.5.0' satisfies SpecVersion3;

export interface NamedConfig {
  name: string;
  config: AnyConfig;
}

export function isSpec3(version: SpecVersion): version is SpecVersion3 {
  return version.startsWith('3.');
}

/** The first is the base; each later one is merged over it, in order. */
export function mergeAll(inputs: readonly NamedConfig[], to: SpecVersion3): Combined {
  const report: Report = [];
  const lifted: { name: string; config: Config3 }[] = [];
  for (const { name, config } of inputs) {
    const translated = translate(config, to);
    report.push(...translated.report.map((entry) => ({ ...entry, message: `${name}: ${entry.message}` })));
    if (translated.config !== null) lifted.push({ name, config: translated.config });
  }
  if (lifted.length < inputs.length || hasErrors(report) || lifted.length === 0) return { result: null, report };
  const { config, provenance } = merge(lifted);
  return { result: config, report, provenance };
}
