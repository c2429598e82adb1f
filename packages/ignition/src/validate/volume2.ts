// Filesystems and raid arrays in spec 2.x.
import { isAbsolute } from '../posix-path.ts';
import { type Findings, show } from '../report.ts';
import type { Config2 } from '../spec/index.ts';
import { rulesOf } from './rules.ts';
import { checkLabelLength, checkRaidLevel } from './volume.ts';

type Storage = NonNullable<Config2['storage']>;
type Filesystem = NonNullable<Storage['filesystems']>[number];
type Mount = NonNullable<Filesystem['mount']>;
type Raid = NonNullable<Storage['raid']>[number];

export function checkFilesystem2({ mount, path }: Filesystem, at: string, findings: Findings): void {
  if ((mount === undefined) === (path === undefined)) {
    findings.error(at, 'a filesystem has either a mount or a path');
  }
  if (path !== undefined && !isAbsolute(path)) {
    findings.error(`${at}.path`, `the path ${show(path)} is relative: start it with "/"`);
  }
  if (mount !== undefined) checkMount(mount, `${at}.mount`, findings);
}

function checkMount(mount: Mount, at: string, findings: Findings): void {
  const formats = rulesOf('2.4.0').filesystemFormats;
  if (!formats.includes(mount.format)) {
    findings.error(`${at}.format`, `the format ${show(mount.format)} is not known: use ${formats.join(', ')}`);
  }
  if (!isAbsolute(mount.device)) findings.error(`${at}.device`, `the device ${show(mount.device)} is no absolute path`);
  checkLabelLength(mount.label, mount.format, `${at}.label`, findings);
  if (mount.create === undefined) return;
  findings.warn(`${at}.create`, 'create is deprecated: set wipeFilesystem and options on the mount');
  if (mount.wipeFilesystem === true)
    findings.error(`${at}.wipeFilesystem`, 'wipeFilesystem cannot be set beside create: keep one');
  if ((mount.options?.length ?? 0) > 0)
    findings.error(`${at}.options`, 'options cannot be set beside create: keep one');
}

export function checkRaid2(raid: Raid, at: string, findings: Findings): void {
  checkRaidLevel(raid.level, raid.spares, at, findings);
  raid.devices?.forEach((device, index) => {
    if (!isAbsolute(device))
      findings.error(`${at}.devices[${index}]`, `the device ${show(device)} is no absolute path`);
  });
}
