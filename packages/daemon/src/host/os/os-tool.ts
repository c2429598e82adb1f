import type { OSRelease } from './os-release.ts';
import { readOSMajor } from './os-release.ts';

export interface OSToolFacts {
  readonly release: OSRelease;
  readonly hasRpmOstree: boolean;
  /** What bootc reports about this machine. `absent`: there is no bootc. `none`: it was not booted from an image. */
  readonly bootc:
    | 'absent'
    | 'none'
    /** bootc can change this machine. */
    | 'image'
    /** rpm-ostree changed packages, and bootc refuses to continue from there. */
    | 'modified'
    /** Not based on ostree: only bootc can change this machine. */
    | 'bootc only';
}

interface Row {
  readonly when: string;
  readonly applies: (facts: OSToolFacts) => boolean;
  readonly tool: string;
}

const canBootc = ({ bootc }: OSToolFacts): boolean => bootc === 'image' || bootc === 'bootc only';

/** The first matching row counts. */
const OS_TOOLS = [
  {
    when: 'only bootc works: there is no rpm-ostree, or the OS is not based on ostree',
    applies: (facts) => facts.bootc === 'bootc only' || (canBootc(facts) && !facts.hasRpmOstree),
    tool: 'bootc',
  },
  {
    when: 'rpm-ostree changed packages, which bootc does not support',
    applies: (facts) => facts.bootc === 'modified' && facts.hasRpmOstree,
    tool: 'rpm-ostree',
  },
  {
    when: 'Enterprise Linux 10 and newer, booted from an image that bootc supports',
    applies: (facts) => canBootc(facts) && (readOSMajor(facts.release) ?? 0) >= 10,
    tool: 'bootc',
  },
  {
    when: 'Enterprise Linux 9, booted from an image that bootc supports',
    applies: (facts) => canBootc(facts) && readOSMajor(facts.release) === 9,
    tool: 'bootc',
  },
  { when: 'rpm-ostree is installed', applies: (facts) => facts.hasRpmOstree, tool: 'rpm-ostree' },
  { when: 'neither: the OS is not image-based', applies: () => true, tool: 'plain' },
] as const satisfies readonly Row[];

export type OSTool = (typeof OS_TOOLS)[number]['tool'];

export function chooseOSTool(facts: OSToolFacts): OSTool {
  return OS_TOOLS.find((row) => row.applies(facts))?.tool ?? 'plain';
}
