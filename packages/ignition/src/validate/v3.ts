// The rules of spec 3.x, beyond the types that parsing has checked.
import { Findings, type Report } from '../report.ts';
import { type Config3, specOf } from '../spec/index.ts';
import { checkDisk } from './disk.ts';
import { checkDuplicates } from './duplicates.ts';
import { checkIgnition } from './ignition.ts';
import { checkNodes } from './node.ts';
import type { Storage, Systemd } from './noun.ts';
import { type Rules, rulesOf } from './rules.ts';
import { checkSystemd, checkUnitPaths } from './systemd.ts';
import { checkFilesystem, checkLuks, checkRaid, warnOfWipedDisks } from './volume.ts';

export function validate3(config: Config3): Report {
  const findings = new Findings();
  const rules = rulesOf(config.ignition.version);
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
