// Spec 3.3.0 to 3.4.0: only new fields.
import type { ConfigOf } from '../spec/index.ts';

export function v3_3ToV3_4(config: ConfigOf<'3.3.0'>): ConfigOf<'3.4.0'> {
  return { ...config, ignition: { ...config.ignition, version: '3.4.0' } };
}
