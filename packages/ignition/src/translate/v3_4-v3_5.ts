// Spec 3.4.0 and 3.5.0.
import type { Findings } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { leaveOut, withList } from './step.ts';

/** Only new fields. (The Go library loses the advertisements of tang servers here.) */
export function v3_4ToV3_5(config: ConfigOf<'3.4.0'>): ConfigOf<'3.5.0'> {
  return { ...config, ignition: { ...config.ignition, version: '3.5.0' } };
}

/** 3.4 has no Crypto Express cards. (The published converter drops them, and tang advertisements, silently.) */
export function v3_5ToV3_4(config: ConfigOf<'3.5.0'>, findings: Findings): ConfigOf<'3.4.0'> {
  const ignition = { ...config.ignition, version: '3.4.0' } as const;
  const { storage, ...rest } = config;
  if (storage === undefined) return { ...rest, ignition };
  const { luks, ...others } = storage;
  const translated = luks?.map(({ cex, ...volume }, index) => {
    leaveOut(
      { path: `storage.luks[${index}].cex.enabled`, name: 'luks.cex', value: cex?.enabled, neutral: false },
      '3.4.0',
      findings,
    );
    return volume;
  });
  return { ...rest, ignition, storage: { ...others, ...withList('luks', translated) } };
}
