// Spec 3.0.0 to 3.1.0: config references, certificate authorities and file contents become resources, with the same fields.
import type { ConfigOf } from '../spec/index.ts';

export function v3_0ToV3_1(config: ConfigOf<'3.0.0'>): ConfigOf<'3.1.0'> {
  return { ...config, ignition: { ...config.ignition, version: '3.1.0' } };
}
