import type { SpecVersion } from '../src/version.ts';
import type { Json } from './configs.ts';

/**
 * Makes a generated config satisfy the rules between fields. Without it nearly every generated config is invalid, and
 * translation and merge, which need valid ones, are hardly ever reached.
 */
export function tidy(config: Json, version: SpecVersion): Json {
  uniqueLists(config);
  everyObject(config, tidyResource);
  for (const list of [...at(config, 'ignition', 'config', 'merge'), ...authorities(config)]) requireSource(list);
  tidyStorage(config, version);
  for (const user of at(config, 'passwd', 'users')) if (user['create'] !== undefined) keepOnly(user, 'create', 'name');
  // Sections that no 3.x spec has would stop every translation from 2.x: keep them in small configs only.
  if (config['storage'] !== undefined) delete config['networkd'];
  return config;
}

function tidyStorage(config: Json, version: SpecVersion): void {
  const storage = config['storage'];
  if (!isObject(storage)) return;
  tidyNodes(config, storage);
  for (const disk of at(storage, 'disks')) tidyPartitions(disk, version);
  for (const filesystem of at(storage, 'filesystems')) tidyFilesystem(filesystem, version);
  for (const raid of at(storage, 'raid')) tidyRaid(raid);
  for (const luks of at(storage, 'luks')) tidyLuks(luks);
}

function tidyNodes(config: Json, storage: Json): void {
  const links = at(storage, 'links').map((link) => `${String(link['path'])}/`);
  const directories = new Set(at(storage, 'directories').map((directory) => directory['path']));
  const taken = new Set<unknown>();
  for (const key of ['files', 'directories', 'links']) {
    const nodes = at(storage, key).filter((node) => {
      const path = String(node['path']);
      const clash = taken.has(path) || links.some((link) => path.startsWith(link)) || isUnitPath(config, path);
      taken.add(path);
      return !clash;
    });
    for (const node of nodes) tidyNode(node);
    if (storage[key] !== undefined) storage[key] = nodes;
  }
  for (const link of at(storage, 'links')) {
    link['target'] ??= '/etc/hosts';
    if (directories.has(link['target']) || String(link['target']).includes('..')) delete link['hard'];
  }
}

const isUnitPath = (config: Json, path: string) =>
  path.startsWith('/etc/systemd/system/') && at(config, 'systemd', 'units').length > 0;

function tidyNode(node: Json): void {
  for (const owner of [node['user'], node['group']]) {
    if (isObject(owner) && owner['id'] !== undefined) delete owner['name'];
  }
  const contents = node['contents'];
  const hasSource = isObject(contents) && contents['source'] !== undefined;
  if (!hasSource || node['append'] === true) delete node['overwrite'];
}

function tidyResource(value: Json): void {
  if (isObject(value['verification']) && value['source'] === undefined) delete value['verification'];
  if (value['httpHeaders'] !== undefined && !String(value['source']).startsWith('http')) delete value['httpHeaders'];
}

function requireSource(resource: Json): void {
  if (typeof resource['source'] !== 'string' || resource['source'] === '') resource['source'] = 'https://example.com/c';
}

function tidyPartitions(disk: Json, version: SpecVersion): void {
  at(disk, 'partitions').forEach((partition, index) => {
    if (partition['number'] === undefined || partition['number'] === 0) {
      partition['label'] ??= `part${index}`;
      delete partition['shouldExist'];
    }
    if (partition['shouldExist'] === false) keepOnly(partition, 'number', 'shouldExist', 'wipePartitionEntry');
    if (version !== '2.2.0') {
      delete partition['size'];
      delete partition['start'];
    }
    // Partitions of known place and size must not overlap; steps of a hundred MiB guarantee that.
    if (partition['startMiB'] !== undefined) partition['startMiB'] = 1 + index * 200;
    if (typeof partition['start'] === 'number') partition['start'] = 2048 + index * 8192;
  });
}

function tidyFilesystem(filesystem: Json, version: SpecVersion): void {
  if (!version.startsWith('2.')) {
    filesystem['format'] ??= 'ext4';
    return;
  }
  const mount = filesystem['mount'];
  if (!isObject(mount)) {
    filesystem['path'] ??= '/';
    return;
  }
  delete filesystem['path'];
  if (isObject(mount['create'])) keepOnly(mount, 'create', 'device', 'format', 'label', 'uuid');
}

function tidyRaid(raid: Json): void {
  raid['level'] ??= 'raid1';
  raid['devices'] ??= ['/dev/sdc'];
  if (['linear', 'raid0', '0', 'stripe'].includes(String(raid['level']))) delete raid['spares'];
}

function tidyLuks(luks: Json): void {
  luks['device'] ??= '/dev/sdd';
  const cex = luks['cex'];
  if (isObject(cex) && cex['enabled'] === true) {
    delete luks['clevis'];
    delete luks['keyFile'];
  }
  if (isObject(luks['clevis'])) tidyClevis(luks['clevis']);
}

function tidyClevis(clevis: Json): void {
  if (isObject(clevis['custom'])) {
    keepOnly(clevis, 'custom');
    clevis['custom']['pin'] ??= 'tpm2';
    clevis['custom']['config'] ??= '{}';
  }
  for (const tang of at(clevis, 'tang')) {
    tang['url'] ??= 'https://tang.example.com';
    tang['thumbprint'] ??= 'abc';
  }
}

const KEYS = ['name', 'device', 'path', 'number', 'label', 'source', 'url'];
const REPEATABLE = new Set(['options', 'mountOptions', 'append']);

function uniqueLists(value: unknown): void {
  if (Array.isArray(value)) return value.forEach(uniqueLists);
  if (!isObject(value)) return;
  const kernelArguments = new Set<unknown>();
  for (const [key, member] of Object.entries(value)) {
    if (Array.isArray(member) && !REPEATABLE.has(key)) {
      value[key] = uniqueBy(member, key.startsWith('should') ? kernelArguments : new Set());
    }
    uniqueLists(value[key]);
  }
}

function uniqueBy(items: unknown[], seen: Set<unknown>): unknown[] {
  return items.filter((item) => {
    const key = isObject(item) ? KEYS.map((name) => item[name]).find((name) => name !== undefined && name !== 0) : item;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

function everyObject(value: unknown, visit: (object: Json) => void): void {
  if (Array.isArray(value)) value.forEach((item) => everyObject(item, visit));
  else if (isObject(value)) {
    visit(value);
    Object.values(value).forEach((member) => everyObject(member, visit));
  }
}

function keepOnly(value: Json, ...keys: string[]): void {
  for (const key of Object.keys(value)) if (!keys.includes(key)) delete value[key];
}

const authorities = (config: Json) => at(config, 'ignition', 'security', 'tls', 'certificateAuthorities');

/** The objects of the list at this path; none if it is absent. */
function at(value: Json, ...path: string[]): Json[] {
  let found: unknown = value;
  for (const key of path) found = isObject(found) ? found[key] : undefined;
  return Array.isArray(found) ? found.filter(isObject) : [];
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
