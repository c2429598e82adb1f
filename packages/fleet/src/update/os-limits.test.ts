import { osAbilityAnnotation } from '@slipway/api/names';
import { describe, expect, it } from 'vitest';
import { findUpdateLimits, formatOSLimits, type OSFacts, readOSFacts } from './os-limits.ts';
import type { Spec } from './settings.ts';
import { plan } from './testing/sample-plan.ts';

const debian: OSFacts = { name: 'Debian GNU/Linux 13 (trixie)', ability: 'none', architecture: 'amd64' };
const bootc: OSFacts = { name: 'CentOS Stream 10', ability: 'image-and-kernel-arguments', architecture: 'amd64' };
const fedora: OSFacts = { name: 'Fedora CoreOS 42.20250721.3.0', ability: 'all', architecture: 'amd64' };
const rhcos: OSFacts = { name: 'Red Hat Enterprise Linux CoreOS 9.6', ability: 'all', architecture: 'amd64' };
const arm: OSFacts = { ...rhcos, architecture: 'arm64' };
const unknown: OSFacts = { name: '', ability: null, architecture: '' };

async function limits(from: Spec, to: Spec, os: OSFacts): Promise<string[]> {
  const configs = { current: { name: 'a', spec: from }, desired: { name: 'b', spec: to } };
  return findUpdateLimits(await plan(from, to), configs, os).map(({ field, why }) => `${field}: ${why}`);
}

const NO_TOOLS = 'Debian GNU/Linux 13 (trixie) has neither rpm-ostree nor bootc, so Slipway cannot change its';
const NO_PACKAGES = 'CentOS Stream 10 has bootc but not rpm-ostree, which installs packages, so Slipway cannot install';
const everything: Spec = { osImageURL: 'os@2', kernelArguments: ['nosmt'], extensions: ['usbguard'] };

describe('an OS cannot be updated to', () => {
  it.each<[string, OSFacts, Spec, string[]]>([
    [
      'any setting of the OS without the tools for it',
      debian,
      { ...everything, kernelType: 'realtime' },
      [
        `spec.osImageURL: ${NO_TOOLS} OS image`,
        `spec.kernelArguments: ${NO_TOOLS} kernel arguments`,
        `spec.extensions: ${NO_TOOLS} extensions`,
        `spec.kernelType: ${NO_TOOLS} kernel`,
      ],
    ],
    [
      'packages with bootc alone',
      bootc,
      { ...everything, kernelType: 'realtime' },
      [
        `spec.extensions: ${NO_PACKAGES} the extensions usbguard`,
        `spec.kernelType: ${NO_PACKAGES} the kernel realtime`,
      ],
    ],
    [
      'a realtime kernel on arm64',
      arm,
      { kernelType: 'realtime' },
      ['spec.kernelType: the kernel realtime exists only for amd64, and this machine is arm64'],
    ],
    [
      'a kernel with 64k pages on amd64',
      rhcos,
      { kernelType: '64k-pages' },
      ['spec.kernelType: the kernel 64k-pages exists only for arm64, and this machine is amd64'],
    ],
    [
      'another kernel on Fedora',
      fedora,
      { kernelType: 'realtime' },
      ['spec.kernelType: Fedora CoreOS 42.20250721.3.0 has no kernel realtime, only Enterprise Linux has it'],
    ],
    [
      'FIPS on Fedora',
      fedora,
      { fips: true },
      [expect.stringMatching(/^spec.fips: Fedora CoreOS 42\S+ ignores this field, so that a new machine /)],
    ],
    ['FIPS on Debian', debian, { fips: true }, [expect.stringMatching(/^spec.fips: Debian .* ignores this field/)]],
  ])('%s', async (_, os, to, expected) => {
    expect(await limits({}, to, os)).toEqual(expected);
  });
});

describe('nothing prevents', () => {
  it.each<[string, OSFacts, Spec]>([
    ['everything with rpm-ostree', rhcos, { ...everything, kernelType: 'realtime', fips: true }],
    ['a kernel with 64k pages on arm64', arm, { kernelType: '64k-pages' }],
    ['image and kernel arguments with bootc alone', bootc, { osImageURL: 'os@2', kernelArguments: ['nosmt'] }],
    ['extensions on Fedora', fedora, everything],
    ['anything on an unknown OS', unknown, { ...everything, kernelType: '64k-pages', fips: true }],
    ['files on Debian', debian, { config: { ignition: { version: '3.5.0' }, storage: { files: [] } } }],
  ])('%s', async (_, os, to) => {
    expect(await limits({}, to, os)).toEqual([]);
  });

  it('a setting that stays, or a kernel that is removed', async () => {
    expect(await limits(everything, { ...everything }, debian)).toEqual([]);
    expect(await limits({ kernelType: 'realtime', extensions: ['usbguard'] }, {}, bootc)).toEqual([]);
    expect(await limits({ fips: true }, {}, fedora)).toEqual([]);
  });
});

it('the message names the config, the fields, what the OS lacks, and what to do', () => {
  const [one, other] = [
    { field: 'spec.kernelType', why: 'Debian has none' },
    { field: 'spec.fips', why: 'nor this' },
  ];
  expect(formatOSLimits({ name: 'rendered-worker-b' }, [one])).toBe(
    'MachineConfig rendered-worker-b, spec.kernelType: Debian has none. Remove the setting from the MachineConfigs of the pool, or move the machine to another pool',
  );
  expect(formatOSLimits({ name: 'rendered-worker-b' }, [one, other])).toMatch(
    /b, spec\.kernelType: Debian has none; spec\.fips: nor this\. Remove these settings from/,
  );
});

describe('a Node reports', () => {
  const nodeInfo = { osImage: debian.name, architecture: 'amd64' };
  const node = (ability: string) => ({
    metadata: { name: 'worker-0', annotations: { [osAbilityAnnotation]: ability } },
    status: { nodeInfo },
  });

  it.each<[string, Parameters<typeof readOSFacts>[0], OSFacts]>([
    ['its OS, its architecture and what its daemon can change', node('none'), debian],
    ['nothing with an annotation that is not known', node('some'), { ...debian, ability: null }],
    ['nothing without a kubelet and a daemon', { metadata: { name: 'worker-0' } }, unknown],
  ])('%s', (_, object, expected) => {
    expect(readOSFacts(object)).toEqual(expected);
  });
});
