import type { OSRelease } from './os-release.ts';
import { readOSMajor } from './os-release.ts';

export interface OSToolFacts {
  readonly release: OSRelease;
  readonly hasRpmOstree: boolean;
  /** What bootc says of this machine. `absent`: there is no bootc. `none`: it was not booted from an image. */
  readonly bootc:
    | 'absent'
    | 'none'
    /** It can change this machine. */
    | 'image'
    /** Packages were changed by rpm-ostree: bootc refuses to go on from there. */
    | 'modified'
    /** Not kept by ostree: nothing but bootc can change this machine. */
    | 'bootc only';
}

interface Row {
  readonly when: string;
  readonly applies: (facts: OSToolFacts) => boolean;
  readonly tool: string;
}

const canBootc = ({ bootc }: OSToolFacts): boolean => bootc === 'image' || bootc === 'bootc only';

/** The first row that applies counts. */
const OS_TOOLS = [
  {
    when: 'only bootc can: there is no rpm-ostree, or the OS is not kept by ostree',
    applies: (facts) => facts.bootc === 'bootc only' || (canBootc(facts) && !facts.hasRpmOstree),
    tool: 'bootc',
  },
  {
    when: 'packages were changed by rpm-ostree, which bootc does not go on from',
    applies: (facts) => facts.bootc === 'modified' && facts.hasRpmOstree,
    tool: 'rpm-ostree',
  },
  {
    when: 'Enterprise Linux 10 and newer, booted from an image that bootc knows',
    applies: (facts) => canBootc(facts) && (readOSMajor(facts.release) ?? 0) >= 10,
    tool: 'bootc',
  },
  {
    when: 'Enterprise Linux 9, booted from an image that bootc knows',
    applies: (facts) => canBootc(facts) && readOSMajor(facts.release) === 9,
    tool: 'bootc',
  },
  { when: 'there is rpm-ostree', applies: (facts) => facts.hasRpmOstree, tool: 'rpm-ostree' },
  { when: 'neither: an OS that is not made from images', applies: () => true, tool: 'plain' },
] as const satisfies readonly Row[];

export type OSTool = (typeof OS_TOOLS)[number]['tool'];

export function chooseOSTool(facts: OSToolFacts): OSTool {
  return OS_TOOLS.find((row) => row.applies(facts))?.tool ?? 'plain';
}
