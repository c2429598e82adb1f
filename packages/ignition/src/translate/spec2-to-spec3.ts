// From 2.x to 3.x where both have the same fields: 2.3 to 3.0, and 2.4 to 3.1.
// Where 2.x does not distinguish empty from absent, empty becomes absent.
import { joinPaths } from '../posix-path.ts';
import type { Findings } from '../report.ts';
import { isZero } from '../spec/field.ts';
import type { ConfigOf } from '../spec/index.ts';
import { refuseUntranslatable } from './spec2-refusals.ts';
import { type TranslateOptions, withList } from './step.ts';
import { v3_1ToV3_0 } from './v3_0-v3_1.ts';

type Config2 = ConfigOf<'2.4.0'>;
type Storage2 = NonNullable<Config2['storage']>;
type Ignition2 = Omit<Config2['ignition'], 'version'>;
type File2 = NonNullable<Storage2['files']>[number];
type Unit2 = NonNullable<NonNullable<Config2['systemd']>['units']>[number];
type Reference2 = NonNullable<File2['contents']>;

type Config3 = ConfigOf<'3.1.0'>;
type Storage3 = NonNullable<Config3['storage']>;
type File3 = NonNullable<Storage3['files']>[number];
type Resource3 = NonNullable<File3['contents']>;
type Unit3 = NonNullable<NonNullable<Config3['systemd']>['units']>[number];

/** Everything but the version. */
type Sections3 = Omit<Config3, 'ignition'> & { ignition: Omit<Config3['ignition'], 'version'> };

export function v2_4ToV3_1(
  config: ConfigOf<'2.4.0'>,
  findings: Findings,
  options: TranslateOptions,
): ConfigOf<'3.1.0'> {
  const { ignition, ...rest } = spec2ToSpec3(config, findings, options);
  return { ...rest, ignition: { ...ignition, version: '3.1.0' } };
}

/** A 2.3 config has nothing that 3.1 can express and 3.0 cannot. */
export function v2_3ToV3_0(
  config: ConfigOf<'2.3.0'>,
  findings: Findings,
  options: TranslateOptions,
): ConfigOf<'3.0.0'> {
  const { ignition, ...rest } = spec2ToSpec3(config, findings, options);
  return v3_1ToV3_0({ ...rest, ignition: { ...ignition, version: '3.1.0' } }, findings);
}

function spec2ToSpec3(config: Config2 | ConfigOf<'2.3.0'>, findings: Findings, options: TranslateOptions): Sections3 {
  const places = new Map([...Object.entries(options.filesystems ?? {}), ['root', '/'] as const]);
  refuseUntranslatable(config, places, findings);
  const { passwd, storage, systemd } = config;
  return dropEmpty({
    ignition: translateIgnition(config.ignition),
    passwd: passwd === undefined ? undefined : translatePasswd(passwd),
    storage: storage === undefined ? undefined : translateStorage(storage, places),
    systemd: systemd === undefined ? undefined : withList('units', systemd.units?.map(translateUnit)),
  });
}

/** Without absent fields and empty objects. */
function dropEmpty<T extends object>(value: T): { [N in keyof T]: Exclude<T[N], undefined> } {
  const kept: Partial<T> = {};
  for (const name in value) {
    const field = value[name];
    if (field === undefined || (typeof field === 'object' && isZero(field) && name !== 'ignition')) continue;
    kept[name] = field;
  }
  return kept as { [N in keyof T]: Exclude<T[N], undefined> };
}

function translateIgnition(ignition: Ignition2): Sections3['ignition'] {
  const { config, proxy, security, timeouts } = ignition;
  const authorities = security?.tls?.certificateAuthorities?.map(translateReference);
  return dropEmpty({
    config: dropEmpty({
      ...withList('merge', config?.append?.map(translateReference)),
      replace: config?.replace === undefined ? undefined : translateReference(config.replace),
    }),
    proxy,
    security: authorities === undefined ? undefined : { tls: { certificateAuthorities: authorities } },
    timeouts,
  });
}

function translateReference({ source, verification, compression, httpHeaders }: Reference2): Resource3 {
  return dropEmpty({
    compression,
    ...withList(
      'httpHeaders',
      httpHeaders?.map(({ name, value }) => (value === '' ? { name } : { name, value })),
    ),
    source: source ?? '',
    verification,
  });
}

function translatePasswd({ users, groups }: NonNullable<Config2['passwd']>): NonNullable<Config3['passwd']> {
  return {
    ...withList('groups', groups),
    ...withList(
      'users',
      users?.map(({ create: _refused, ...user }) => user),
    ),
  };
}

/** Of the two fields that enable a unit, the newer one wins. */
function translateUnit({ enable, enabled, ...unit }: Unit2): Unit3 {
  if (enabled === undefined && enable === undefined) return unit;
  return { ...unit, enabled: enabled ?? enable === true };
}

function translateStorage(storage: Storage2, places: ReadonlyMap<string, string>): Storage3 {
  const { directories, disks, files, filesystems, links, raid } = storage;
  return {
    ...withList(
      'directories',
      directories?.map((directory) => translateNode(directory, places)),
    ),
    ...withList('disks', disks?.map(translateDisk)),
    ...withList(
      'files',
      files?.map((file) => translateFile(file, places)),
    ),
    ...withList(
      'filesystems',
      filesystems?.flatMap((filesystem) => translateFilesystem(filesystem, places)),
    ),
    ...withList(
      'links',
      links?.map((link) => translateNode(link, places)),
    ),
    ...withList('raid', raid),
  };
}

function translateNode<N extends { filesystem: string; path: string; user?: object; group?: object }>(
  { filesystem, path, ...rest }: N,
  places: ReadonlyMap<string, string>,
): Omit<N, 'filesystem'> {
  return dropEmpty({ ...rest, path: joinPaths(places.get(filesystem) ?? '', path) }) as Omit<N, 'filesystem'>;
}

/** In 2.x a file overwrites by default, and what it appends is its contents. */
function translateFile(file: File2, places: ReadonlyMap<string, string>): File3 {
  const { append, contents, ...node } = translateNode(file, places);
  const resource = translateReference(contents ?? {});
  if (append === true) return { ...node, overwrite: false, append: [resource] };
  return { ...node, overwrite: node.overwrite ?? true, contents: resource };
}

function translateDisk({ partitions, ...disk }: NonNullable<Storage2['disks']>[number]) {
  return {
    ...disk,
    ...withList(
      'partitions',
      partitions?.map(({ size: _sectors, start: _sector, ...rest }) => rest),
    ),
  };
}

type Filesystem2 = NonNullable<Storage2['filesystems']>[number];
type Filesystem3 = NonNullable<Storage3['filesystems']>[number];

function translateFilesystem({ name = '', mount }: Filesystem2, places: ReadonlyMap<string, string>): Filesystem3[] {
  if (name === 'root') return [];
  const path = places.get(name) ?? '';
  const place = path === '' ? {} : { path };
  if (mount === undefined) return [{ device: '', ...place }];
  const { create: _refused, format, ...rest } = mount;
  return [{ ...rest, ...place, ...(format === '' ? {} : { format }) }];
}
