// Spec 3.4.0 to 3.5.0: only new fields. (The Go library loses the advertisements of tang servers here.)
import type { ConfigOf } from '../spec/index.ts';

export function v3_4ToV3_5(config: ConfigOf<'3.4.0'>): ConfigOf<'3.5.0'> {
  return { ...config, ignition: { ...config.ignition, version: '3.5.0' } };
}
