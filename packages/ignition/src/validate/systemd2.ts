// Units of systemd and networkd in spec 2.x.
import { extensionOf } from '../posix-path.ts';
import { type Findings, show } from '../report.ts';
import type { Config2 } from '../spec/index.ts';
import { checkContents, checkDropin, checkUnitName } from './systemd.ts';

const NETWORK_TYPES = ['.link', '.netdev', '.network'];

export function checkUnits2(config: Config2, findings: Findings): void {
  config.systemd?.units?.forEach((unit, index) => {
    const at = `systemd.units[${index}]`;
    checkUnitName(unit.name, `${at}.name`, findings);
    const reading = checkContents(unit.contents, `${at}.contents`, findings);
    const enabled = unit.enable === true || unit.enabled === true;
    if (enabled && reading?.ok === true && reading.sections.size > 0 && !reading.sections.has('Install')) {
      findings.warn(`${at}.contents`, `the unit ${show(unit.name)} is enabled but has no [Install] section`);
    }
    unit.dropins?.forEach((dropin, place) => checkDropin(dropin, `${at}.dropins[${place}]`, findings));
  });
  config.networkd?.units?.forEach((unit, index) => {
    const at = `networkd.units[${index}]`;
    if (!NETWORK_TYPES.includes(extensionOf(unit.name))) {
      findings.error(
        `${at}.name`,
        `the network unit ${show(unit.name)} does not end with one of ${NETWORK_TYPES.join(', ')}`,
      );
    }
    checkContents(unit.contents, `${at}.contents`, findings);
    unit.dropins?.forEach((dropin, place) => checkDropin(dropin, `${at}.dropins[${place}]`, findings));
  });
}
