// What is created on disks: filesystems, raid arrays, LUKS volumes; the rules of spec 2.x have a 2 in their names.
import { scanJson } from '../json-scan.ts';
import { isAbsolute } from '../posix-path.ts';
import { type Findings, show, showSource } from '../report.ts';
import type { Config2 } from '../spec/index.ts';
import { checkResource } from './resource.ts';
import {
  type Clevis,
  type Custom,
  type Disk,
  type Filesystem,
  type Luks,
  pathProblem,
  type Raid,
  type Rules,
  getRules,
  type Tang,
  utf8Length,
} from './rules.ts';
import { schemeClass } from './source.ts';

/** Maximum bytes of a label in each format. */
const LABEL_MAX: Readonly<Record<string, number>> = { ext4: 16, btrfs: 256, xfs: 12, swap: 15, vfat: 11 };

export function checkFilesystem(filesystem: Filesystem, at: string, rules: Rules, findings: Findings): void {
  const { path, device, format, label } = filesystem;
  const pathIssue = path === undefined || path === '' ? null : pathProblem(path);
  if (pathIssue !== null) findings.error(`${at}.path`, pathIssue);
  const deviceIssue = pathProblem(device);
  if (deviceIssue !== null) findings.error(`${at}.device`, deviceIssue);
  if (format === undefined || format === '') {
    if (needsFormat(filesystem))
      findings.error(`${at}.format`, `the filesystem on ${show(device)} has settings but no format`);
  } else if (!rules.filesystemFormats.includes(format)) {
    findings.error(
      `${at}.format`,
      `the format ${show(format)} is not supported: use ${rules.filesystemFormats.join(', ')}`,
    );
  } else checkLabelLength(label, format, `${at}.label`, findings);
}

function checkLabelLength(label: string | undefined, format: string, at: string, findings: Findings): void {
  const most = LABEL_MAX[format];
  if (label === undefined || most === undefined) return;
  const length = utf8Length(label);
  if (length > most)
    findings.error(at, `the label ${show(label)} has ${length} bytes: ${format} allows at most ${most}`);
}

function needsFormat({ path, label, uuid, wipeFilesystem, options, mountOptions }: Filesystem): boolean {
  const named = Boolean(path) || Boolean(label) || Boolean(uuid);
  return named || wipeFilesystem === true || (options?.length ?? 0) > 0 || (mountOptions?.length ?? 0) > 0;
}

/** A filesystem on a whole disk that this config also partitions or wipes. */
export function warnOfWipedDisks(filesystems: readonly Filesystem[], disks: readonly Disk[], findings: Findings): void {
  const byDevice = new Map(disks.map((disk) => [disk.device, disk]));
  filesystems.forEach((filesystem, index) => {
    const disk = byDevice.get(filesystem.device);
    const at = `storage.filesystems[${index}].device`;
    if (disk?.partitions !== undefined && disk.partitions.length > 0) {
      findings.warn(at, `the filesystem overwrites the partitions of ${show(disk.device)}`);
    } else if (disk?.wipeTable === true && filesystem.wipeFilesystem !== true) {
      findings.warn(at, `wipeTable of ${show(disk.device)} also wipes this filesystem`);
    }
  });
}

const LEVELS_WITHOUT_SPARES = ['linear', 'raid0', '0', 'stripe'];
const RAID_LEVELS = LEVELS_WITHOUT_SPARES.concat([
  'raid1',
  '1',
  'mirror',
  'raid4',
  '4',
  'raid5',
  '5',
  'raid6',
  '6',
  'raid10',
  '10',
]);

export function checkRaid(raid: Raid, at: string, findings: Findings): void {
  checkRaidLevel(raid.level, raid.spares, at, findings);
  const devices = raid.devices ?? [];
  if (devices.length === 0) findings.error(`${at}.devices`, `the raid array ${show(raid.name)} has no devices`);
  devices.forEach((device, index) => {
    const problem = pathProblem(device);
    if (problem !== null) findings.error(`${at}.devices[${index}]`, problem);
  });
}

function checkRaidLevel(level: string | undefined, spares: number | undefined, at: string, findings: Findings): void {
  if (level === undefined || !RAID_LEVELS.includes(level)) {
    findings.error(
      `${at}.level`,
      `the raid level ${show(level ?? '')} is not supported: use ${RAID_LEVELS.join(', ')}`,
    );
  } else if (LEVELS_WITHOUT_SPARES.includes(level) && (spares ?? 0) !== 0) {
    findings.error(`${at}.level`, `raid level ${level} supports no spares, but spares is ${spares}`);
  }
}

const LUKS_LABEL_MAX = 47;

export function checkLuks(luks: Luks, at: string, rules: Rules, findings: Findings): void {
  const { name, label, device, clevis, keyFile } = luks;
  if (name.includes('/')) findings.error(`${at}.name`, `the name ${show(name)} contains "/"`);
  if (label !== undefined && utf8Length(label) > LUKS_LABEL_MAX) {
    findings.error(`${at}.label`, `the label ${show(label)} has more than ${LUKS_LABEL_MAX} bytes`);
  }
  const problem = device === undefined || device === '' ? 'the device is missing' : pathProblem(device);
  if (problem !== null) findings.error(`${at}.device`, problem);
  if (clevis !== undefined) checkClevis(clevis, `${at}.clevis`, rules, findings);
  checkResource(keyFile, `${at}.keyFile`, rules, findings);
  checkCex(luks, at, findings);
}

function checkCex({ cex, clevis, keyFile }: Luks, at: string, findings: Findings): void {
  if (cex?.enabled !== true) return;
  if (clevis !== undefined && (Boolean(clevis.custom?.pin) || hasOwnPins(clevis))) {
    findings.error(`${at}.cex`, 'cex and clevis are both set: keep one');
  }
  if (keyFile?.source) {
    findings.error(`${at}.cex`, 'cex and keyFile are both set: keep one');
  }
}

function hasOwnPins({ tang, tpm2, threshold }: Clevis): boolean {
  return (tang?.length ?? 0) > 0 || tpm2 === true || (threshold ?? 0) !== 0;
}

function checkClevis(clevis: Clevis, at: string, rules: Rules, findings: Findings): void {
  const { custom } = clevis;
  const hasCustom = rules.customIsPointer ? custom !== undefined : Boolean(custom?.pin);
  if (hasCustom && hasOwnPins(clevis)) {
    findings.error(at, 'a custom clevis config excludes other pins: remove tang, tpm2 and threshold, or remove custom');
  }
  if (custom !== undefined) checkCustom(custom, `${at}.custom`, rules, findings);
  clevis.tang?.forEach((tang, index) => checkTang(tang, `${at}.tang[${index}]`, findings));
}

function checkCustom(custom: Custom, at: string, rules: Rules, findings: Findings): void {
  const { pin, config, needsNetwork } = custom;
  const mayBeEmpty = rules.customIsPointer || needsNetwork !== true;
  if (!pin && !config && mayBeEmpty) return;
  if (!pin) findings.error(`${at}.pin`, 'the pin of the custom clevis config is missing');
  else if (rules.clevisPins !== null && !rules.clevisPins.includes(pin)) {
    findings.error(
      `${at}.pin`,
      `the clevis pin ${show(pin)} is not supported: spec ${rules.version} has ${rules.clevisPins.join(', ')}`,
    );
  }
  if (!config) findings.error(`${at}.config`, 'the config of the custom clevis pin is missing');
}

function checkTang({ url = '', thumbprint, advertisement }: Tang, at: string, findings: Findings): void {
  if (schemeClass(url) !== 'http')
    findings.error(`${at}.url`, `the tang server ${showSource(url)} is not an http or https URL`);
  if (!thumbprint) findings.error(`${at}.thumbprint`, 'the thumbprint of the tang server is missing');
  if (advertisement && !isJson(advertisement)) {
    findings.error(`${at}.advertisement`, 'the advertisement of the tang server is not valid JSON');
  }
}

const ADVERTISEMENT_LIMITS = { depth: 10_000, values: 1_000_000 };

/** JSON that Go can store: not too deep, no number beyond a double. */
function isJson(text: string): boolean {
  const { tooDeep, tooMany } = scanJson(text, ADVERTISEMENT_LIMITS);
  if (tooDeep || tooMany) return false;
  try {
    const waiting: unknown[] = [JSON.parse(text)];
    for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
      if (value === Infinity || value === -Infinity) return false;
      if (typeof value === 'object' && value !== null) for (const member of Object.values(value)) waiting.push(member);
    }
    return true;
  } catch {
    return false;
  }
}

// Spec 2.x.

type Storage2 = NonNullable<Config2['storage']>;
type Filesystem2 = NonNullable<Storage2['filesystems']>[number];
type Mount = NonNullable<Filesystem2['mount']>;
type Raid2 = NonNullable<Storage2['raid']>[number];

export function checkFilesystem2({ mount, path }: Filesystem2, at: string, findings: Findings): void {
  if ((mount === undefined) === (path === undefined)) {
    findings.error(at, 'a filesystem needs either a mount or a path, not both');
  }
  if (path !== undefined && !isAbsolute(path)) {
    findings.error(`${at}.path`, `the path ${show(path)} is relative: start it with "/"`);
  }
  if (mount !== undefined) checkMount(mount, `${at}.mount`, findings);
}

function checkMount(mount: Mount, at: string, findings: Findings): void {
  const formats = getRules('2.4.0').filesystemFormats;
  if (!formats.includes(mount.format)) {
    findings.error(`${at}.format`, `the format ${show(mount.format)} is not supported: use ${formats.join(', ')}`);
  }
  if (!isAbsolute(mount.device))
    findings.error(`${at}.device`, `the device ${show(mount.device)} is not an absolute path`);
  checkLabelLength(mount.label, mount.format, `${at}.label`, findings);
  if (mount.create === undefined) return;
  findings.warn(`${at}.create`, 'create is deprecated: set wipeFilesystem and options on the mount');
  if (mount.wipeFilesystem === true)
    findings.error(`${at}.wipeFilesystem`, 'wipeFilesystem and create are both set: keep one');
  if ((mount.options?.length ?? 0) > 0) findings.error(`${at}.options`, 'options and create are both set: keep one');
}

export function checkRaid2(raid: Raid2, at: string, findings: Findings): void {
  checkRaidLevel(raid.level, raid.spares, at, findings);
  raid.devices?.forEach((device, index) => {
    if (!isAbsolute(device))
      findings.error(`${at}.devices[${index}]`, `the device ${show(device)} is not an absolute path`);
  });
}
