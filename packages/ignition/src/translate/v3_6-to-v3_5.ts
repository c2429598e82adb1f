// Spec 3.6.0 to 3.5.0: setuid, setgid and sticky bits cannot be said, since 3.5 ignores them.
import type { Findings } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { refuseSpecialBits } from './special-bits.ts';

export function v3_6ToV3_5(config: ConfigOf<'3.6.0'>, findings: Findings): ConfigOf<'3.5.0'> {
  refuseSpecialBits(config.storage, '3.5.0', findings);
  return { ...config, ignition: { ...config.ignition, version: '3.5.0' } };
}
