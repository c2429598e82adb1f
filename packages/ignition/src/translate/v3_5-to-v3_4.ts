// Spec 3.5.0 to 3.4.0: no Crypto Express cards. (The published converter drops them, and tang advertisements, silently.)
import type { Findings } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { leaveOut } from './left-out.ts';
import { withList } from './with-list.ts';

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
