// Refuses what a 2.x config can express and no 3.x config can, or what would change its meaning there, by field.
import { findPrefixes, joinPaths } from '../posix-path.ts';
import { type Findings, show } from '../report.ts';
import type { ConfigOf } from '../spec/index.ts';

type Config2 = ConfigOf<'2.3.0'> | ConfigOf<'2.4.0'>;
type Storage = NonNullable<ConfigOf<'2.4.0'>['storage']>;

export function refuseUntranslatable(config: Config2, places: ReadonlyMap<string, string>, findings: Findings): void {
  if ((config.networkd?.units?.length ?? 0) > 0) {
    findings.error(
      'networkd.units',
      'spec 3 has no networkd section: write its units as files in /etc/systemd/network',
    );
  }
  const storage = config.storage ?? {};
  refuseSectors(storage, findings);
  refuseFilesystems(storage, places, findings);
  refuseNodes(storage, places, findings);
  refuseCreate(config, findings);
  refuseRepeatedUnits(config, findings);
}

function refuseSectors(storage: Storage, findings: Findings): void {
  storage.disks?.forEach(({ partitions }, index) => {
    partitions?.forEach((partition, place) => {
      for (const name of ['size', 'start'] as const) {
        if (partition[name] === undefined) continue;
        const at = `storage.disks[${index}].partitions[${place}].${name}`;
        findings.error(at, `spec 3 has no sizes in sectors: use ${name}MiB, of 2048 sectors each`);
      }
    });
  });
}

function refuseFilesystems(storage: Storage, places: ReadonlyMap<string, string>, findings: Findings): void {
  storage.filesystems?.forEach(({ name = '', mount }, index) => {
    const at = `storage.filesystems[${index}]`;
    if (!places.has(name)) {
      findings.error(
        `${at}.name`,
        `the mount point of the filesystem ${show(name)} is unknown: pass it to the translation`,
      );
    }
    if (name === 'root' && mount !== undefined) {
      findings.error(
        `${at}.mount`,
        'spec 3 has no name for the root filesystem, so it cannot specify what to create on its device',
      );
    }
    if (mount?.create !== undefined) {
      findings.error(`${at}.mount.create`, 'spec 3 has no create: set wipeFilesystem and options on the mount');
    }
  });
}

function refuseCreate(config: Config2, findings: Findings): void {
  config.passwd?.users?.forEach(({ create }, index) => {
    if (create === undefined) return;
    findings.error(`passwd.users[${index}].create`, 'spec 3 has no create: set its fields on the user');
  });
}

function refuseNodes(storage: Storage, places: ReadonlyMap<string, string>, findings: Findings): void {
  const links = (storage.links ?? []).map((link) => resolvePath(link, places));
  const taken = new Map<string, string>();
  for (const list of ['files', 'directories', 'links'] as const) {
    const nodes: readonly Node[] = storage[list] ?? [];
    const paths = nodes.map((node) => resolvePath(node, places));
    // The published converter treats "/etc/foo.conf" as a path through the link "/etc/foo", and so does this one.
    const prefixes = findPrefixes(links, paths);
    nodes.forEach(({ filesystem }, index) => {
      const at = `storage.${list}[${index}]`;
      const path = paths[index] ?? '';
      if (!places.has(filesystem)) {
        findings.error(`${at}.filesystem`, `the mount point of the filesystem ${show(filesystem)} is unknown`);
      }
      const other = taken.get(path);
      if (other !== undefined)
        findings.error(`${at}.path`, `${show(path)} is also ${other}: in spec 3 a path must be unique`);
      taken.set(path, at);
      const link = prefixes[index] ?? null;
      if (link !== null)
        findings.error(`${at}.path`, `${show(path)} starts with the link ${show(link)} of this config`);
    });
  }
}

interface Node {
  readonly filesystem: string;
  readonly path: string;
}

function resolvePath({ filesystem, path }: Node, places: ReadonlyMap<string, string>): string {
  return joinPaths('/', places.get(filesystem) ?? '', path);
}

function refuseRepeatedUnits(config: Config2, findings: Findings): void {
  const units = config.systemd?.units ?? [];
  refuseRepeated(units, 'systemd.units', findings);
  units.forEach((unit, index) => refuseRepeated(unit.dropins ?? [], `systemd.units[${index}].dropins`, findings));
}

function refuseRepeated(items: readonly { name: string }[], at: string, findings: Findings): void {
  const names = new Set<string>();
  items.forEach(({ name }, index) => {
    if (names.has(name))
      findings.error(`${at}[${index}].name`, `${show(name)} is duplicated: in spec 3 a name must be unique`);
    names.add(name);
  });
}
