// Spec 3.4.0 to 3.3.0: no tang advertisements, LUKS discard, LUKS open options, special mode bits, S3 ARNs.
// A source with the scheme `arn` breaks a rule of 3.3, and is found there.
import type { Findings } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { leaveOut } from './left-out.ts';
import { refuseSpecialBits } from './special-bits.ts';
import { withList } from './with-list.ts';

type Luks = NonNullable<NonNullable<ConfigOf<'3.4.0'>['storage']>['luks']>[number];
type OlderLuks = NonNullable<NonNullable<ConfigOf<'3.3.0'>['storage']>['luks']>[number];

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
