import { describe, expect, it } from 'vitest';
import { chooseOSTool, type OSTool, type OSToolFacts } from './os-tool.ts';
import { parseOSRelease, readOSVersion } from './os-release.ts';

const el10 = { ID: 'rhcos', RHEL_VERSION: '10.0' };
const el9 = { ID: 'rhcos', VERSION: '418.94.202410090804-0', OPENSHIFT_VERSION: '4.18', RHEL_VERSION: '9.4' };
const scos9 = { ID: 'scos', VERSION_ID: '9' };
const el8 = { ID: 'rhcos', VERSION: '412.86.202301311551-0', OPENSHIFT_VERSION: '4.12', RHEL_VERSION: '8.6' };
const fedora = { ID: 'fedora', VERSION_ID: '42', VARIANT_ID: 'coreos' };
const debian = { ID: 'debian', VERSION_ID: '13' };

const table: [what: string, tool: OSTool, facts: OSToolFacts][] = [
  ['EL 10', 'bootc', { release: el10, hasRpmOstree: true, bootc: 'image' }],
  ['EL 10 with layered packages', 'rpm-ostree', { release: el10, hasRpmOstree: true, bootc: 'modified' }],
  ['EL 10 whose bootc does not support the image', 'rpm-ostree', { release: el10, hasRpmOstree: true, bootc: 'none' }],
  ['EL 10 without rpm-ostree', 'bootc', { release: el10, hasRpmOstree: false, bootc: 'image' }],
  ['EL 9 with a usable bootc', 'bootc', { release: el9, hasRpmOstree: true, bootc: 'image' }],
  ['CentOS Stream CoreOS 9 with a usable bootc', 'bootc', { release: scos9, hasRpmOstree: true, bootc: 'image' }],
  ['EL 9 with layered packages', 'rpm-ostree', { release: el9, hasRpmOstree: true, bootc: 'modified' }],
  ['EL 9 without bootc', 'rpm-ostree', { release: el9, hasRpmOstree: true, bootc: 'absent' }],
  ['EL 8, whatever bootc reports', 'rpm-ostree', { release: el8, hasRpmOstree: true, bootc: 'image' }],
  ['Fedora CoreOS', 'rpm-ostree', { release: fedora, hasRpmOstree: true, bootc: 'image' }],
  ['Fedora without rpm-ostree', 'bootc', { release: fedora, hasRpmOstree: false, bootc: 'image' }],
  ['an OS that is not based on ostree', 'bootc', { release: el9, hasRpmOstree: true, bootc: 'bootc only' }],
  ['Debian', 'plain', { release: debian, hasRpmOstree: false, bootc: 'absent' }],
  ['Debian with bootc installed', 'plain', { release: debian, hasRpmOstree: false, bootc: 'none' }],
];

describe('the tool that manages the OS', () => {
  it.each(table)('%s: %s', (_what, tool, facts) => {
    expect(chooseOSTool(facts)).toBe(tool);
  });
});

describe('the version of the OS', () => {
  it.each([
    ['RHEL_VERSION', 'VERSION="418.94.1-0"\nRHEL_VERSION="9.4"\n', '9.4'],
    ['VERSION without that of the cluster', 'VERSION="412.86.1-0"\nOPENSHIFT_VERSION="4.12"\n', '86.1-0'],
    ['VERSION_ID', "VERSION='13 (trixie)'\nVERSION_ID=13\n# a comment\n", '13'],
    ['nothing', '', ''],
  ])('is %s', (_what, text, version) => {
    expect(readOSVersion(parseOSRelease(text))).toBe(version);
  });
});
