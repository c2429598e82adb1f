// Spec 3.1.0 and 3.2.0.
import type { Findings } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';
import { leaveOut, withList } from './step.ts';

type Passwd = NonNullable<ConfigOf<'3.2.0'>['passwd']>;
type Storage = NonNullable<ConfigOf<'3.2.0'>['storage']>;
type OlderPasswd = NonNullable<ConfigOf<'3.1.0'>['passwd']>;
type OlderStorage = NonNullable<ConfigOf<'3.1.0'>['storage']>;

/** Only new fields. */
export function v3_1ToV3_2(config: ConfigOf<'3.1.0'>): ConfigOf<'3.2.0'> {
  return { ...config, ignition: { ...config.ignition, version: '3.2.0' } };
}

/** 3.1 has no LUKS, no partition resizing, no users or groups that must not exist. */
export function v3_2ToV3_1(config: ConfigOf<'3.2.0'>, findings: Findings): ConfigOf<'3.1.0'> {
  const { passwd, storage, ...rest } = config;
  return {
    ...rest,
    ignition: { ...config.ignition, version: '3.1.0' },
    ...(passwd === undefined ? {} : { passwd: translatePasswd(passwd, findings) }),
    ...(storage === undefined ? {} : { storage: translateStorage(storage, findings) }),
  };
}

function translatePasswd({ users, groups }: Passwd, findings: Findings): OlderPasswd {
  const withoutShouldExist = <A extends { shouldExist?: boolean }>(list: string) => {
    return ({ shouldExist, ...account }: A, index: number): Omit<A, 'shouldExist'> => {
      leaveOut({ path: `passwd.${list}[${index}].shouldExist`, value: shouldExist, neutral: true }, '3.1.0', findings);
      return account;
    };
  };
  return {
    ...withList('groups', groups?.map(withoutShouldExist('groups'))),
    ...withList('users', users?.map(withoutShouldExist('users'))),
  };
}

function translateStorage({ disks, luks, ...rest }: Storage, findings: Findings): OlderStorage {
  leaveOut({ path: 'storage.luks', value: luks }, '3.1.0', findings);
  const translated = disks?.map(({ partitions, ...disk }, index) => ({
    ...disk,
    ...withList(
      'partitions',
      partitions?.map(({ resize, ...partition }, place) => {
        const path = `storage.disks[${index}].partitions[${place}].resize`;
        leaveOut({ path, value: resize, neutral: false }, '3.1.0', findings);
        return partition;
      }),
    ),
  }));
  return { ...rest, ...withList('disks', translated) };
}
