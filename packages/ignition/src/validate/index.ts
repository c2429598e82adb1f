// Applies the rules of the real validator for the config's version, beyond the types that parsing has checked.
// A config without errors in the report is valid.
import { Findings, type Report } from '../report.ts';
import { type AnyConfig, type Config2, type Config3, isOfVersion, isSpec2, specOf } from '../spec/index.ts';
import { checkDisk, checkDisk2 } from './disk.ts';
import { checkDuplicates } from './duplicates.ts';
import { checkNodes, checkNodes2 } from './node.ts';
import { checkIgnition, checkReferences2 } from './resource.ts';
import { type Rules, getRules, type Storage, type Systemd } from './rules.ts';
import { checkSystemd, checkUnitPaths, checkUnits2 } from './systemd.ts';
import { checkFilesystem, checkFilesystem2, checkLuks, checkRaid, checkRaid2, warnOfWipedDisks } from './volume.ts';

export function validate(config: AnyConfig): Report {
  return isSpec2(config) ? validate2(config) : validate3(config);
}

function validate3(config: Config3): Report {
  const findings = new Findings();
  const rules = getRules(config.ignition.version);
  checkIgnition(config.ignition, rules, findings);
  const storage: Storage = config.storage ?? {};
  const systemd: Systemd = config.systemd ?? {};
  checkStorage(storage, rules, findings);
  checkSystemd(systemd, findings);
  checkUnitPaths(systemd, storage, findings);
  checkDuplicates(specOf(config.ignition.version), config, '', findings);
  return findings.report();
}

function checkStorage(storage: Storage, rules: Rules, findings: Findings): void {
  checkNodes(storage, rules, findings);
  storage.disks?.forEach((disk, index) => checkDisk(disk, `storage.disks[${index}]`, findings));
  storage.raid?.forEach((raid, index) => checkRaid(raid, `storage.raid[${index}]`, findings));
  storage.luks?.forEach((luks, index) => checkLuks(luks, `storage.luks[${index}]`, rules, findings));
  storage.filesystems?.forEach((filesystem, index) =>
    checkFilesystem(filesystem, `storage.filesystems[${index}]`, rules, findings),
  );
  warnOfWipedDisks(storage.filesystems ?? [], storage.disks ?? [], findings);
}

function validate2(config: Config2): Report {
  const findings = new Findings();
  const rules = getRules(config.ignition.version);
  checkReferences2(config.ignition, rules, findings);
  checkNodes2(config.storage ?? {}, rules, findings);
  checkDisks2(config, findings);
  config.storage?.raid?.forEach((raid, index) => checkRaid2(raid, `storage.raid[${index}]`, findings));
  config.storage?.filesystems?.forEach((filesystem, index) =>
    checkFilesystem2(filesystem, `storage.filesystems[${index}]`, findings),
  );
  checkUnits2(config, findings);
  checkUsers2(config.passwd?.users ?? [], findings);
  return findings.report();
}

/** In 2.2 partitions are plain sector numbers; later versions have MiB, and a number can be absent. */
function checkDisks2(config: Config2, findings: Findings): void {
  const plain = isOfVersion(config, '2.2.0');
  config.storage?.disks?.forEach((disk, index) => checkDisk2(disk, `storage.disks[${index}]`, plain, findings));
}

type User = NonNullable<NonNullable<Config2['passwd']>['users']>[number];

const REPLACED = [
  ...(['gecos', 'groups', 'homeDir', 'noCreateHome', 'noLogInit'] as const),
  ...(['noUserGroup', 'primaryGroup', 'shell', 'system', 'uid'] as const),
];

/** The old `create` object must not be combined with the fields that replaced it. */
function checkUsers2(users: readonly User[], findings: Findings): void {
  users.forEach((user, index) => {
    if (user.create === undefined) return;
    const at = `passwd.users[${index}]`;
    findings.warn(`${at}.create`, 'create is deprecated: set its fields on the user');
    for (const name of REPLACED) {
      if (user[name] !== undefined) findings.error(`${at}.${name}`, `${name} and create are both set: keep one`);
    }
  });
}
