// Spec 3.3.0 and 3.4.0.
import type { Findings } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { leaveOut, withList } from './step.ts';
import { refuseSpecialBits } from './v3_5-v3_6.ts';

type Luks = NonNullable<NonNullable<ConfigOf<'3.4.0'>['storage']>['luks']>[number];
type OlderLuks = NonNullable<NonNullable<ConfigOf<'3.3.0'>['storage']>['luks']>[number];

/** Only new fields. */
export function v3_3ToV3_4(config: ConfigOf<'3.3.0'>): ConfigOf<'3.4.0'> {
  return { ...config, ignition: { ...config.ignition, version: '3.4.0' } };
}

/**
 * 3.3 has no tang advertisements, LUKS discard, LUKS open options, special mode bits, S3 ARNs. A source with the scheme
 * `arn` violates a rule of 3.3 and is reported by its validation.
 */
export function v3_4ToV3_3(config: ConfigOf<'3.4.0'>, findings: Findings): ConfigOf<'3.3.0'> {
  refuseSpecialBits(config.storage, '3.3.0', findings);
  const ignition = { ...config.ignition, version: '3.3.0' } as const;
  const { storage, ...rest } = config;
  if (storage === undefined) return { ...rest, ignition };
  const { luks, ...others } = storage;
  const translated = luks?.map((volume, index) => translateLuks(volume, `storage.luks[${index}]`, findings));
  return { ...rest, ignition, storage: { ...others, ...withList('luks', translated) } };
}

function translateLuks(luks: Luks, at: string, findings: Findings): OlderLuks {
  const { clevis, discard, openOptions, ...rest } = luks;
  leaveOut({ path: `${at}.discard`, value: discard, neutral: false }, '3.3.0', findings);
  leaveOut({ path: `${at}.openOptions`, value: openOptions }, '3.3.0', findings);
  if (clevis === undefined) return rest;
  const { tang, ...others } = clevis;
  const servers = tang?.map(({ advertisement, ...server }, index) => {
    leaveOut(
      { path: `${at}.clevis.tang[${index}].advertisement`, value: advertisement, neutral: '' },
      '3.3.0',
      findings,
    );
    return server;
  });
  return { ...rest, clevis: { ...others, ...withList('tang', servers) } };
}
