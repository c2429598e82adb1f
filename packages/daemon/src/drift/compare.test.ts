import { describe, expect, it } from 'vitest';
import type { DesiredOS } from '../desired-machine.ts';
import { compareOS, compareUnit, type ObservedOS } from './compare.ts';

const [A, B] = ['a', 'b'].map((digit) => `sha256:${digit.repeat(64)}`) as [string, string];
const expected: DesiredOS = {
  image: `quay.example/os@${A}`,
  kernelArguments: ['quiet', 'x=1'],
  noKernelArguments: [],
  kernelType: 'default',
  extensions: [],
  fips: false,
};
const booted: ObservedOS['booted'] = {
  image: `quay.example/os@${A}`,
  digest: A,
  version: '9.6',
  kernelArguments: ['root=x', 'quiet', 'x=1'],
  packages: [],
};
const realtime = ['kernel-rt-core', 'kernel-rt-modules', 'kernel-rt-modules-extra'];

interface Case {
  readonly name: string;
  readonly wanted?: Partial<DesiredOS>;
  readonly found?: Partial<ObservedOS['booted']>;
  readonly fips?: boolean | null;
  readonly kinds: readonly string[];
}

const cases: readonly Case[] = [
  { name: 'the same', kinds: [] },
  { name: 'another image', found: { image: `quay.example/os@${B}`, digest: B }, kinds: ['os image'] },
  { name: 'the same digest from a mirror', found: { image: `mirror.example/os@${A}` }, kinds: [] },
  { name: 'a tag with the desired digest', found: { image: 'quay.example/os:9.6' }, kinds: [] },
  { name: 'a tag with another digest', found: { image: 'quay.example/os:9.6', digest: B }, kinds: ['os image'] },
  { name: 'an OS that is not from an image', found: { image: '', digest: '' }, kinds: [] },
  { name: 'a config that names no image', wanted: { image: '' }, kinds: [] },
  { name: 'a kernel argument that is missing', wanted: { kernelArguments: ['y'] }, kinds: ['kernel arguments'] },
  {
    name: 'one that is present once and desired twice',
    wanted: { kernelArguments: ['x=1', 'x=1'] },
    kinds: ['kernel arguments'],
  },
  { name: 'arguments that the config does not mention', found: { kernelArguments: ['quiet', 'x=1', 'z'] }, kinds: [] },
  { name: 'an argument that must be absent', wanted: { noKernelArguments: ['quiet'] }, kinds: ['kernel arguments'] },
  { name: 'a host that does not report its arguments', found: { kernelArguments: [] }, kinds: [] },
  {
    name: 'an extension whose packages are installed',
    wanted: { extensions: ['kerberos'] },
    found: { packages: ['krb5-workstation', 'libkadm5'] },
    kinds: [],
  },
  {
    name: 'an extension with a missing package',
    wanted: { extensions: ['kerberos'] },
    found: { packages: ['libkadm5'] },
    kinds: ['extensions'],
  },
  { name: 'another kernel, as desired', wanted: { kernelType: 'realtime' }, found: { packages: realtime }, kinds: [] },
  { name: 'another kernel than desired', wanted: { kernelType: 'realtime' }, kinds: ['kernel type'] },
  { name: 'another kernel although the default is desired', found: { packages: realtime }, kinds: ['kernel type'] },
  { name: 'FIPS that is on and must be off', fips: true, kinds: ['fips'] },
  { name: 'FIPS that is off and must be on', wanted: { fips: true }, kinds: ['fips'] },
  { name: 'FIPS that its kernel does not have', wanted: { fips: true }, fips: null, kinds: [] },
];

describe('the OS', () => {
  for (const { name, wanted, found, kinds, ...rest } of cases) {
    it(`with ${name}`, () => {
      const facts = { booted: { ...booted, ...found }, fips: rest.fips === undefined ? false : rest.fips };
      const differences = compareOS({ ...expected, ...wanted }, facts);
      expect(differences.map(({ kind }) => kind)).toEqual(kinds);
      expect(differences.every(({ canHeal }) => !canHeal)).toBe(true);
    });
  }
});

const STATES = ['enabled', 'enabled-runtime', 'disabled', 'static', 'indirect', 'alias', 'generated', 'linked'];
const GONE = ['masked', 'masked-runtime', 'not-found'];

it('a password in kernel arguments is not reported', () => {
  const kernelArguments = [
    ...booted.kernelArguments,
    'rd.iscsi.password=abc12',
    'netroot=iscsi:shop:abc12@10.0.0.1::::iqn.a',
  ];
  const [difference] = compareOS(
    { ...expected, kernelArguments: ['rd.iscsi.password=abc13'] },
    { booted: { ...booted, kernelArguments }, fips: false },
  );
  expect(difference?.message).toContain('also rd.iscsi.password=(hidden), the machine runs with root=x quiet');
  expect(difference?.message).not.toMatch(/abc1/);
});

describe('a unit', () => {
  it.each([
    ['enabled', true, ['disabled', ...GONE]],
    ['disabled', false, ['enabled', 'enabled-runtime']],
    ['as the OS has it', null, []],
  ])('that must be %s', (_, enabled, refused) => {
    const told = [...STATES, ...GONE].filter((enablement) => {
      const unit = { name: 'a.service', enabled, unmasked: false };
      return compareUnit(unit, { enablement, missingLinks: [], isMasked: false }).length > 0;
    });
    expect(told.sort()).toEqual([...refused].sort());
  });

  it.each([
    ['disabled', true],
    ['masked', true],
    ['masked-runtime', false],
    ['not-found', false],
  ])('that is %s can be enabled: %s', (enablement, canHeal) => {
    const unit = { name: 'a.service', enabled: true, unmasked: false };
    expect(compareUnit(unit, { enablement, missingLinks: [], isMasked: false })).toEqual([
      {
        kind: 'unit',
        name: 'a.service',
        canHeal,
        message: `unit a.service: expected it to be enabled, found it ${enablement}`,
      },
    ]);
  });

  it('that must not be masked is reported only as masked, not also as disabled', () => {
    const unit = { name: 'a.service', enabled: true, unmasked: true };
    expect(compareUnit(unit, { enablement: 'masked', missingLinks: [], isMasked: true })).toMatchObject([
      { message: 'unit a.service: expected it to be unmasked, found it masked', canHeal: true },
    ]);
  });
});
