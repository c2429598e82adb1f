// Spec 2.3.0 to 3.0.0.
import type { Findings } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { spec2ToSpec3 } from './spec2-to-spec3.ts';
import type { TranslateOptions } from './step.ts';
import { v3_1ToV3_0 } from './v3_1-to-v3_0.ts';

/** A 2.3 config has nothing that 3.1 can say and 3.0 cannot. */
export function v2_3ToV3_0(
  config: ConfigOf<'2.3.0'>,
  findings: Findings,
  options: TranslateOptions,
): ConfigOf<'3.0.0'> {
  const { ignition, ...rest } = spec2ToSpec3(config, findings, options);
  return v3_1ToV3_0({ ...rest, ignition: { ...ignition, version: '3.1.0' } }, findings);
}
