// Spec 3.2.0 to 3.3.0: raid level, link target and clevis fields become optional, and an empty clevis is none.
import { isZero } from '../spec/field.ts';
import type { ConfigOf } from '../spec/index.ts';
import { withList } from './with-list.ts';

export function v3_2ToV3_3(config: ConfigOf<'3.2.0'>): ConfigOf<'3.3.0'> {
  const ignition = { ...config.ignition, version: '3.3.0' } as const;
  const { storage, ...rest } = config;
  if (storage === undefined) return { ...rest, ignition };
  const { luks, ...others } = storage;
  return { ...rest, ignition, storage: { ...others, ...withList('luks', luks?.map(withoutEmptyClevis)) } };
}

type Luks = NonNullable<NonNullable<ConfigOf<'3.2.0'>['storage']>['luks']>[number];

function withoutEmptyClevis(luks: Luks): Luks {
  const { clevis, ...rest } = luks;
  return isZero(clevis) ? rest : luks;
}
