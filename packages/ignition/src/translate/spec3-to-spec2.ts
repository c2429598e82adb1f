// From 3.x to 2.x where both have the same fields: filesystems are named by path, a file with appends becomes several.
// Where 2.x does not distinguish empty from absent, empty becomes absent.
import { type Findings, show } from '../report.ts';
import { isZero } from '../spec/field.ts';
import type { ConfigOf } from '../spec/index.ts';
import { leaveOut, withList } from './step.ts';
import { v2_4ToV2_3 } from './v2_3-v2_4.ts';
import { v3_0ToV3_1 } from './v3_0-v3_1.ts';

type Config3 = ConfigOf<'3.1.0'>;
type Storage3 = NonNullable<Config3['storage']>;
type File3 = NonNullable<Storage3['files']>[number];
type Resource3 = NonNullable<File3['contents']>;
type Config2 = ConfigOf<'2.4.0'>;
type Ignition2 = Config2['ignition'];
type Storage2 = NonNullable<Config2['storage']>;
type File2 = NonNullable<Storage2['files']>[number];

export function v3_1ToV2_4(config: Config3, findings: Findings): Config2 {
  const { passwd, storage, systemd } = config;
  return {
    ignition: translateIgnition(config.ignition, findings),
    ...(passwd === undefined ? {} : { passwd: translatePasswd(passwd) }),
    ...(storage === undefined ? {} : { storage: translateStorage(storage, findings) }),
    ...(systemd === undefined ? {} : { systemd: withList('units', systemd.units?.map(translateUnit)) }),
  };
}

/** A 3.0 config has nothing that 2.4 can express and 2.3 cannot. */
export function v3_0ToV2_3(config: ConfigOf<'3.0.0'>, findings: Findings): ConfigOf<'2.3.0'> {
  return v2_4ToV2_3(v3_1ToV2_4(v3_0ToV3_1(config), findings), findings);
}

/** Without these fields if they are empty: 2.x has them only with a value. */
function without<T extends object>(value: T, ...kept: (keyof T)[]): T {
  const result = { ...value };
  for (const name in result) {
    if (!kept.includes(name) && isZero(result[name])) Reflect.deleteProperty(result, name);
  }
  return result;
}

function translateIgnition({ config, proxy, security, timeouts }: Config3['ignition'], findings: Findings): Ignition2 {
  const authorities = security?.tls?.certificateAuthorities?.map((resource, index) =>
    translateReference(resource, `ignition.security.tls.certificateAuthorities[${index}]`, findings),
  );
  return without(
    {
      config: translateConfigs(config ?? {}, findings),
      proxy: without(proxy ?? {}),
      security: authorities === undefined ? {} : { tls: { certificateAuthorities: authorities } },
      timeouts: timeouts ?? {},
      version: '2.4.0',
    },
    'version',
  );
}

function translateConfigs({ merge, replace }: NonNullable<Config3['ignition']['config']>, findings: Findings) {
  const append = merge?.map((resource, index) =>
    translateReference(resource, `ignition.config.merge[${index}]`, findings),
  );
  if (replace?.source === undefined) {
    leaveOut({ path: 'ignition.config.replace.compression', value: replace?.compression }, '2.4.0', findings);
    return withList('append', append);
  }
  return { ...withList('append', append), replace: translateReference(replace, 'ignition.config.replace', findings) };
}

function translateReference(resource: Resource3, at: string, findings: Findings) {
  leaveOut({ path: `${at}.compression`, value: resource.compression }, '2.4.0', findings);
  const { compression: _refused, ...reference } = translateContents(resource, at, findings);
  return { ...reference, source: resource.source ?? '' };
}

function translateContents(
  { httpHeaders, compression, source, verification }: Resource3,
  at: string,
  findings: Findings,
) {
  const headers = httpHeaders?.map(({ name, value }, index) => {
    if (value === undefined)
      findings.error(`${at}.httpHeaders[${index}].value`, `the header ${show(name)} has no value`);
    return { name, value: value ?? '' };
  });
  return {
    ...(compression ? { compression } : {}),
    ...withList('httpHeaders', headers),
    ...(source ? { source } : {}),
    ...(verification === undefined ? {} : { verification }),
  };
}

function translatePasswd({ groups, users }: NonNullable<Config3['passwd']>): NonNullable<Config2['passwd']> {
  return {
    ...withList(
      'groups',
      groups?.map((group) => without(group, 'gid', 'name')),
    ),
    ...withList(
      'users',
      users?.map((user) => without(user, 'name', 'passwordHash', 'uid')),
    ),
  };
}

type Unit3 = NonNullable<NonNullable<Config3['systemd']>['units']>[number];

function translateUnit({ dropins, ...unit }: Unit3) {
  return {
    ...without(unit, 'name', 'enabled'),
    ...withList(
      'dropins',
      dropins?.map((dropin) => without(dropin, 'name')),
    ),
  };
}

function translateStorage(storage: Storage3, findings: Findings): Storage2 {
  const { directories, disks, files, filesystems, links, raid } = storage;
  const places = (filesystems ?? []).flatMap(({ path }) => (path ? [path] : []));
  return {
    ...withList(
      'directories',
      directories?.map((directory) => translateNode(directory, places)),
    ),
    ...withList('disks', disks?.map(translateDisk)),
    ...withList(
      'files',
      files?.flatMap((file, index) => translateFile(file, `storage.files[${index}]`, places, findings)),
    ),
    ...withList('filesystems', translateFilesystems(filesystems ?? [], findings)),
    ...withList(
      'links',
      links?.map((link) => translateLink(link, places)),
    ),
    ...withList(
      'raid',
      raid?.map((array) => without(array, 'name', 'level')),
    ),
  };
}

function translateDisk({ partitions, ...disk }: NonNullable<Storage3['disks']>[number]) {
  return {
    ...without(disk, 'device'),
    ...withList(
      'partitions',
      partitions?.map((partition) => without(partition, 'label', 'shouldExist', 'sizeMiB', 'startMiB')),
    ),
  };
}

type Owner = NonNullable<File3['user']>;

function translateNode<N extends { path: string; user?: Owner; group?: Owner }>(
  { path, user, group, ...rest }: N,
  places: readonly string[],
) {
  // The longest path that is a prefix of this one, even in the middle of a name, like the published converter: then the
  // rest is not an absolute path, and is refused.
  const place = places.reduce(
    (best, other) => (path.startsWith(other) && other.length > best.length ? other : best),
    '',
  );
  return {
    ...rest,
    filesystem: place === '' ? 'root' : place,
    path: path.slice(place.length),
    ...(user === undefined ? {} : { user: without(user, 'id') }),
    ...(group === undefined ? {} : { group: without(group, 'id') }),
  };
}

function translateLink(link: NonNullable<Storage3['links']>[number], places: readonly string[]) {
  const { hard, ...node } = translateNode(link, places);
  return hard === true ? { ...node, hard } : node;
}

/** In 2.x a file is its contents or one append. Contents that 3.x leaves unchanged, 2.x overwrites by default. */
function translateFile(file: File3, at: string, places: readonly string[], findings: Findings): File2[] {
  const { append, contents, overwrite, ...rest } = file;
  const node = translateNode(rest, places);
  const translated: File2[] = [];
  if (contents?.source !== undefined) {
    const resource = translateContents(contents, `${at}.contents`, findings);
    translated.push({ ...node, overwrite: overwrite ?? false, ...(isZero(resource) ? {} : { contents: resource }) });
  }
  append?.forEach((resource, index) => {
    const appended = translateContents(resource, `${at}.append[${index}]`, findings);
    translated.push({ ...node, overwrite: false, append: true, ...(isZero(appended) ? {} : { contents: appended }) });
  });
  if (translated.length === 0) {
    findings.error(
      `${at}.contents`,
      `the file ${show(file.path)} has no contents: a 2.x config cannot leave existing contents unchanged`,
    );
  }
  return translated;
}

function translateFilesystems(filesystems: NonNullable<Storage3['filesystems']>, findings: Findings) {
  let unnamed = 0;
  return filesystems.map(({ path, mountOptions, format, ...mount }, index) => {
    leaveOut({ path: `storage.filesystems[${index}].mountOptions`, value: mountOptions }, '2.4.0', findings);
    if (path === undefined) unnamed += 1;
    const name = path ?? String(unnamed);
    return {
      ...(name === '' ? {} : { name }),
      mount: { ...without(mount, 'device', 'label', 'uuid'), format: format ?? '' },
    };
  });
}
