// Units and their drop-ins.
import { getExtension } from '../posix-path.ts';
import { type Findings, show } from '../report.ts';
import type { Config2 } from '../spec/index.ts';
import { readUnit, type UnitReading } from '../systemd-unit.ts';
import type { Storage, Systemd, Unit } from './rules.ts';

const UNIT_TYPES =
  '.service .socket .device .mount .automount .swap .target .path .timer .snapshot .slice .scope'.split(' ');

export function checkSystemd(systemd: Systemd, findings: Findings): void {
  const units = systemd.units ?? [];
  const readings = new Map<string, UnitReading>();
  units.forEach((unit, index) => {
    const at = `systemd.units[${index}]`;
    checkUnitName(unit.name, `${at}.name`, findings);
    const reading = checkContents(unit.contents, `${at}.contents`, findings);
    if (reading !== null) readings.set(unit.name, reading);
    warnOfNoInstall(unit, reading, `${at}.contents`, findings);
    unit.dropins?.forEach((dropin, place) => checkDropin(dropin, `${at}.dropins[${place}]`, findings));
  });
  warnOfTemplates(units, readings, findings);
}

function checkUnitName(name: string, at: string, findings: Findings): void {
  if (UNIT_TYPES.includes(getExtension(name))) return;
  if (name === '') {
    findings.error(at, 'the name of the unit is missing');
    return;
  }
  findings.error(
    at,
    `the unit ${show(name)} has no known systemd unit type: end the name with one of ${UNIT_TYPES.join(', ')}`,
  );
}

function checkDropin(dropin: { name: string; contents?: string }, at: string, findings: Findings): void {
  checkContents(dropin.contents, `${at}.contents`, findings);
  if (getExtension(dropin.name) !== '.conf') {
    findings.error(`${at}.name`, `the drop-in ${show(dropin.name)} must end with ".conf"`);
  }
}

/** Null if there are no contents, or none that can be parsed. */
function checkContents(contents: string | undefined, at: string, findings: Findings): UnitReading | null {
  if (contents === undefined || contents === '') return null;
  const reading = readUnit(contents);
  if (!reading.ok) findings.error(at, `the unit file cannot be read: ${reading.problem}`);
  return reading.ok ? reading : null;
}

function warnOfNoInstall(unit: Unit, reading: UnitReading | null, at: string, findings: Findings): void {
  if (unit.enabled !== true || reading?.ok !== true || reading.sections.has('Install')) return;
  findings.warn(
    at,
    `the unit ${show(unit.name)} is enabled but has no [Install] section, so enabling it has no effect`,
  );
}

const INSTANCE = /^(.+?)@.+?\.service$/;

function warnOfTemplates(units: readonly Unit[], readings: ReadonlyMap<string, UnitReading>, findings: Findings): void {
  units.forEach((unit, index) => {
    const prefix = unit.enabled === true ? INSTANCE.exec(unit.name)?.[1] : undefined;
    if (prefix === undefined) return;
    const template = `${prefix}@.service`;
    const reading = readings.get(template);
    if (reading?.ok !== true || reading.sections.has('Install')) return;
    findings.warn(
      `systemd.units[${index}]`,
      `the template ${show(template)} has no [Install] section, so enabling it has no effect`,
    );
  });
}

const UNIT_DIRECTORY = '/etc/systemd/system/';

/** A unit or drop-in with contents is a file too: no file, directory or link may have its path. */
export function checkUnitPaths(systemd: Systemd, storage: Storage, findings: Findings): void {
  const taken = new Set<string>();
  for (const unit of systemd.units ?? []) {
    if (unit.contents) taken.add(UNIT_DIRECTORY + unit.name);
    for (const dropin of unit.dropins ?? []) {
      if (dropin.contents) taken.add(`${UNIT_DIRECTORY}${unit.name}.d/${dropin.name}`);
    }
  }
  if (taken.size === 0) return;
  for (const list of ['files', 'directories', 'links'] as const) {
    storage[list]?.forEach(({ path }, index) => {
      if (taken.has(path))
        findings.error(
          `storage.${list}[${index}].path`,
          `${show(path)} is also the path of a systemd unit in this config`,
        );
    });
  }
}

// Spec 2.x, which also has networkd units.

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
    if (!NETWORK_TYPES.includes(getExtension(unit.name))) {
      findings.error(
        `${at}.name`,
        `the network unit ${show(unit.name)} must end with one of ${NETWORK_TYPES.join(', ')}`,
      );
    }
    checkContents(unit.contents, `${at}.contents`, findings);
    unit.dropins?.forEach((dropin, place) => checkDropin(dropin, `${at}.dropins[${place}]`, findings));
  });
}
