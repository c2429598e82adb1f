// Spec 2.4.0 to 3.1.0.
import type { Findings } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { spec2ToSpec3 } from './spec2-to-spec3.ts';
import type { TranslateOptions } from './step.ts';

export function v2_4ToV3_1(
  config: ConfigOf<'2.4.0'>,
  findings: Findings,
  options: TranslateOptions,
): ConfigOf<'3.1.0'> {
  const { ignition, ...rest } = spec2ToSpec3(config, findings, options);
  return { ...rest, ignition: { ...ignition, version: '3.1.0' } };
}
