// Spec 3.0.0 to 2.3.0.
import type { Findings } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { v2_4ToV2_3 } from './v2_4-to-v2_3.ts';
import { v3_0ToV3_1 } from './v3_0-to-v3_1.ts';
import { v3_1ToV2_4 } from './v3_1-to-v2_4.ts';

/** A 3.0 config has nothing that 2.4 can say and 2.3 cannot. */
export function v3_0ToV2_3(config: ConfigOf<'3.0.0'>, findings: Findings): ConfigOf<'2.3.0'> {
  return v2_4ToV2_3(v3_1ToV2_4(v3_0ToV3_1(config), findings), findings);
}
