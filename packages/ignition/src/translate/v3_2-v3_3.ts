// Spec 3.2.0 and 3.3.0.
import type { Findings } from '../report.ts';
import { isZero } from '../spec/field.ts';
import type { ConfigOf } from '../spec/index.ts';
import { leaveOut, withList } from './step.ts';

type Storage = NonNullable<ConfigOf<'3.3.0'>['storage']>;
type Luks = NonNullable<Storage['luks']>[number];
type OlderLuks = NonNullable<NonNullable<ConfigOf<'3.2.0'>['storage']>['luks']>[number];
type Custom = NonNullable<NonNullable<Luks['clevis']>['custom']>;
type OlderCustom = NonNullable<NonNullable<OlderLuks['clevis']>['custom']>;

/** Raid level, link target and clevis fields become optional, and an empty clevis becomes absent. */
export function v3_2ToV3_3(config: ConfigOf<'3.2.0'>): ConfigOf<'3.3.0'> {
  const ignition = { ...config.ignition, version: '3.3.0' } as const;
  const { storage, ...rest } = config;
  if (storage === undefined) return { ...rest, ignition };
  const { luks, ...others } = storage;
  return { ...rest, ignition, storage: { ...others, ...withList('luks', luks?.map(withoutEmptyClevis)) } };
}

function withoutEmptyClevis(luks: OlderLuks): OlderLuks {
  const { clevis, ...rest } = luks;
  return isZero(clevis) ? rest : luks;
}

/** 3.2 has no kernel arguments; it requires raid level, link target and the fields of a custom clevis config. */
export function v3_3ToV3_2(config: ConfigOf<'3.3.0'>, findings: Findings): ConfigOf<'3.2.0'> {
  const { kernelArguments, storage, ...rest } = config;
  for (const name of ['shouldExist', 'shouldNotExist'] as const) {
    leaveOut(
      { path: `kernelArguments.${name}`, name: 'kernelArguments', value: kernelArguments?.[name] },
      '3.2.0',
      findings,
    );
  }
  const ignition = { ...config.ignition, version: '3.2.0' } as const;
  if (storage === undefined) return { ...rest, ignition };
  const { links, luks, raid, ...others } = storage;
  return {
    ...rest,
    ignition,
    storage: {
      ...others,
      ...withList('links', links?.map(translateLink)),
      ...withList(
        'luks',
        luks?.map((volume, index) => translateLuks(volume, `storage.luks[${index}]`, findings)),
      ),
      ...withList('raid', raid?.map(translateRaid)),
    },
  };
}

function translateLink(link: NonNullable<Storage['links']>[number]) {
  return { ...link, target: link.target ?? '' };
}

function translateRaid(raid: NonNullable<Storage['raid']>[number]) {
  return { ...raid, level: raid.level ?? '' };
}

function translateLuks(luks: Luks, at: string, findings: Findings): OlderLuks {
  const { clevis, ...rest } = luks;
  if (clevis === undefined) return rest;
  const { custom, ...others } = clevis;
  const translated = translateCustom(custom, `${at}.clevis.custom`, findings);
  return { ...rest, clevis: translated === null ? others : { ...others, custom: translated } };
}

/** Without pin and config there is no custom config, whatever else it has: in 3.2 the object alone would be one. */
function translateCustom(custom: Custom | undefined, at: string, findings: Findings): OlderCustom | null {
  if (custom === undefined) return null;
  const { pin, config, ...rest } = custom;
  if (pin !== undefined || config !== undefined) return { ...rest, pin: pin ?? '', config: config ?? '' };
  leaveOut({ path: `${at}.needsNetwork`, value: rest.needsNetwork, neutral: false }, '3.2.0', findings);
  return null;
}
