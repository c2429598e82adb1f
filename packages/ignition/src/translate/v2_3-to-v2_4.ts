// Spec 2.3.0 to 2.4.0: only new fields.
import type { ConfigOf } from '../spec/index.ts';

export function v2_3ToV2_4(config: ConfigOf<'2.3.0'>): ConfigOf<'2.4.0'> {
  return { ...config, ignition: { ...config.ignition, version: '2.4.0' } };
}
