// Spec 3.1.0 to 3.2.0: only new fields.
import type { ConfigOf } from '../spec/index.ts';

export function v3_1ToV3_2(config: ConfigOf<'3.1.0'>): ConfigOf<'3.2.0'> {
  return { ...config, ignition: { ...config.ignition, version: '3.2.0' } };
}
