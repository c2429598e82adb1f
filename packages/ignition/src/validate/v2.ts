// The rules of spec 2.x, beyond the types that parsing has checked.
import { Findings, type Report } from '../report.ts';
import { type Config2, isOfVersion } from '../spec/index.ts';
import { checkDisk2 } from './disk2.ts';
import { checkNodes2 } from './node2.ts';
import { checkReferences2 } from './resource2.ts';
import { type Rules, rulesOf } from './rules.ts';
import { checkUnits2 } from './systemd2.ts';
import { checkUsers2 } from './passwd2.ts';
import { checkFilesystem2, checkRaid2 } from './volume2.ts';

export function validate2(config: Config2): Report {
  const findings = new Findings();
  const rules: Rules = rulesOf(config.ignition.version);
  checkReferences2(config.ignition, rules, findings);
  checkNodes2(config.storage ?? {}, rules, findings);
  checkDisks(config, findings);
  config.storage?.raid?.forEach((raid, index) => checkRaid2(raid, `storage.raid[${index}]`, findings));
  config.storage?.filesystems?.forEach((filesystem, index) =>
    checkFilesystem2(filesystem, `storage.filesystems[${index}]`, findings),
  );
  checkUnits2(config, findings);
  checkUsers2(config.passwd?.users ?? [], findings);
  return findings.report();
}

/** In 2.2 partitions are plain numbers of sectors, later there are MiB, and a number can be absent. */
function checkDisks(config: Config2, findings: Findings): void {
  const plain = isOfVersion(config, '2.2.0');
  config.storage?.disks?.forEach((disk, index) => checkDisk2(disk, `storage.disks[${index}]`, plain, findings));
}
